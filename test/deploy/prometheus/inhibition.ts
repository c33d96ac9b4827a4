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

/** All of it as a Mermaid graph. */
export function graphOf(pairs: readonly Inhibition[]): string {
  const arrows = pairs.map(
    ({ source, target, equal }) => `  ${source.alert} -- ${equal.join(', ')} --> ${target.alert}`,
  );
  const critical = new Set(pairs.flatMap(({ source, target }) => [source, target]).filter(isCritical));
  return [
    '```mermaid',
    'flowchart LR',
    ...arrows,
    '  classDef critical stroke:#d32,stroke-width:2px',
    `  class ${[...critical].map(({ alert }) => alert).join(',')} critical`,
    '```',
  ].join('\n');
}

function isCritical({ severity }: AlertRule): boolean {
  return severity === 'critical';
}
