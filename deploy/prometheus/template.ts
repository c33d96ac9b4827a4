import { type Group, groupsOf } from './groups.ts';
import type { AlertRule, RecordingRule, Severity, Thresholds } from './rule.ts';
import { remedyOf } from './runbooks.ts';
import { thresholdNames } from './thresholds.ts';

/** A rule as Prometheus takes it. */
export type WrittenRule = WrittenAlert | RecordingRule;

/** An alert as Prometheus takes it. */
export interface WrittenAlert {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly keep_firing_for: string;
  readonly labels: { readonly severity: Severity };
  readonly annotations: Readonly<Record<string, string>>;
}

/** A group of rules as Prometheus takes it. */
export interface WrittenGroup {
  readonly name: string;
  readonly rules: readonly WrittenRule[];
}

/**
 * What an alert knows goes missing with the exporter. It stays until the alert on that has fired, so that silence is never
 * told as recovery.
 */
const KEEP_FIRING_FOR = '15m';

/** What stands in a template for the address of the folder docs/runbooks. */
export const RUNBOOKS = '<runbooks>';

/** What stands in a template for a threshold. */
export function placeholderOf(name: string): string {
  return `<${name}>`;
}

const placeholders = Object.fromEntries(thresholdNames.map((name) => [name, placeholderOf(name)])) as Thresholds;

/** Every rule, with the name of each threshold, in pointed brackets, in the place of its number. */
export const template: readonly WrittenGroup[] = templateOf(groupsOf(placeholders));

/** These groups as Prometheus takes them, with {@link RUNBOOKS} for the address of the runbooks. */
export function templateOf(groups: readonly Group[]): readonly WrittenGroup[] {
  return groups.map(({ name, rules }) => ({ name, rules: rules.map(written) }));
}

function written(rule: AlertRule | RecordingRule): WrittenRule {
  if ('record' in rule) return { record: rule.record, expr: rule.expr };
  const { alert, expr, severity, summary, description, page } = rule;
  const runbook_url = `${RUNBOOKS}/${page}.md#${alert.toLowerCase()}`;
  const annotations = { summary, description, runbook: remedyOf(rule), runbook_url };
  return { alert, expr, for: rule.for, keep_firing_for: KEEP_FIRING_FOR, labels: { severity }, annotations };
}
