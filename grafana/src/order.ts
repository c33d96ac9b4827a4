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
    const times = `${of} / ${warns}`;
    const rank = critical === undefined ? times : `${times} + ${CRITICAL} * (${of} > bool ${critical})`;
    return `label_replace(${rank}, "reason", "${index}", "", "")`;
  });
  return `max by (${by}) (${ranks.join(' or ')})`;
}
