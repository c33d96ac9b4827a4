import { CRITICAL } from './mappings.ts';

/** One reason why something is bad: a number, from which value it warns, and from which value it is critical. */
export interface Reason {
  readonly of: string;
  readonly warns: number;
  readonly critical?: number;
}

/**
 * Returns how bad each thing is as one number: critical ones first, then by how far they exceed their limit. `max` keeps
 * the worst reason; until then a label keeps the reasons apart.
 */
export function badness(by: string, reasons: readonly Reason[]): string {
  const ranks = reasons.map(({ of, warns, critical }, index) => {
    const orange = `${of} / ${warns}`;
    const red = `(${of} > ${critical}) / ${warns} + ${CRITICAL}`;
    // No value is below 0.
    const rank = critical === undefined ? orange : critical === 0 ? red : `${red} or ${orange}`;
    return `label_replace(${rank}, "reason", "${index}", "", "")`;
  });
  return `max by (${by}) (${ranks.join(' or ')})`;
}
