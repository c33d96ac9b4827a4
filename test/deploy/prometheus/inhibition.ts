import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { alertRules } from '../../../deploy/prometheus/groups.ts';
import type { AlertRule } from '../../../deploy/prometheus/rule.ts';
import { root } from '../../support/program.ts';

/** While `source` fires, `target` is not told of, where both have these labels in common. */
export interface Inhibition {
  readonly source: AlertRule;
  readonly target: AlertRule;
  readonly equal: readonly string[];
}

interface WrittenRule {
  readonly source_matchers: readonly string[];
  readonly target_matchers: readonly string[];
  readonly equal: readonly string[];
}

/** What the example for Alertmanager holds back, one pair of alerts each. */
export function inhibitions(): readonly Inhibition[] {
  const text = readFileSync(join(root, 'deploy/prometheus/alertmanager.yml'), 'utf8');
  const { inhibit_rules: rules } = parse(text) as { readonly inhibit_rules: readonly WrittenRule[] };
  return rules.flatMap(({ source_matchers, target_matchers, equal }) =>
    named(source_matchers).flatMap((source) => named(target_matchers).map((target) => ({ source, target, equal }))),
  );
}

/** The alerts that matchers name, which are all of the form `alertname = A` or `alertname =~ "A|B"`. */
function named(matchers: readonly string[]): readonly AlertRule[] {
  const [matcher = '', ...others] = matchers;
  const names = /^alertname =~? "?([\w|]+)"?$/.exec(matcher)?.[1]?.split('|');
  if (names === undefined || others.length > 0) throw new Error(`${matchers.join(', ')}: expected names of alerts`);
  return names.map((name) => {
    const rule = alertRules.find(({ alert }) => alert === name);
    if (rule === undefined) throw new Error(`${name}: no such alert`);
    return rule;
  });
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
