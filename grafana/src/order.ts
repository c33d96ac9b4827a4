import { CRITICAL } from './mappings.ts';

/** One reason why something is bad: a number, from where on it warns, and from where on it is critical. */
export interface Reason {
  readonly of: string;
  readonly warns: number;
  readonly critical?: number;
}

/**
 * How bad each is, as one number: critical first, then what is furthest above its limit. `max` takes the worst reason; a label
 * tells the reasons apart until then.
 */
export function badness(by: string, reasons: readonly Reason[]): string {
  const ranks = reasons.map(({ of, warns, critical }, index) => {
    const orange = `${of} / ${warns}`;
    const red = `(${of} > ${critical}) / ${warns} + ${CRITICAL}`;
    // Nothing is below 0.
    const rank = critical === undefined ? orange : critical === 0 ? red : `${red} or ${orange}`;
    return `label_replace(${rank}, "reason", "${index}", "", "")`;
  });
  return `max by (${by}) (${ranks.join(' or ')})`;
}
