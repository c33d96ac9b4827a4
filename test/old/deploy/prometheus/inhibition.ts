import { alertRules } from '../../../deploy/prometheus/groups.ts';
import { inhibitRules } from '../../../deploy/prometheus/inhibition.ts';
import type { AlertRule } from '../../../deploy/prometheus/rule.ts';

/** While `source` fires, `target` is not told of, where both have these labels in common. */
export interface Inhibition {
  readonly source: AlertRule;
  readonly target: AlertRule;
  readonly equal: readonly string[];
}

/** What the example for Alertmanager holds back, one pair of alerts each. */
export function inhibitions(): readonly Inhibition[] {
  return inhibitRules.flatMap(({ sources, targets, equal }) =>
    sources.flatMap((source) => targets.map((target) => ({ source: named(source), target: named(target), equal }))),
  );
}

function named(name: string): AlertRule {
  const rule = alertRules.find(({ alert }) => alert === name);
  if (rule === undefined) throw new Error(`${name}: no such alert`);
  return rule;
}

/** All of it as a table of Markdown. */
export function inhibitionTable(): string {
  const rows = inhibitRules.map(({ sources, targets, equal }) => {
    return `| ${[sources, targets, equal].map((names) => names.join(', ')).join(' | ')} |`;
  });
  return ['| while this fires | no message about | with the same |', '|---|---|---|', ...rows].join('\n');
}
