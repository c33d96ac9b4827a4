import { type Group, groupsOf } from './groups.ts';
import type { AlertRule, RecordingRule, Severity, Thresholds } from './rule.ts';
import { panelOf, remedyOf } from './runbooks.ts';
import { thresholdNames } from './thresholds.ts';

export type WrittenRule = WrittenAlert | RecordingRule;

export interface WrittenAlert {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly keep_firing_for: string;
  readonly labels: { readonly severity: Severity };
  readonly annotations: Readonly<Record<string, string>>;
}

export interface WrittenGroup {
  readonly name: string;
  readonly interval?: string;
  readonly rules: readonly WrittenRule[];
}

/**
 * The data of an alert disappears with the exporter. The alert keeps firing until the alert about the exporter fires, so
 * that missing data never looks like recovery.
 */
const KEEP_FIRING_FOR = '7m';

/** The placeholders at the beginning of links: the URL of the dashboard Runbooks, and that of the page `/status`. */
export const LINKS = { runbooks: '<runbooks>', status: '<status>' } as const;

/** The placeholder for a threshold. */
export function placeholderOf(name: string): string {
  return `<${name}>`;
}

const placeholders = Object.fromEntries(thresholdNames.map((name) => [name, placeholderOf(name)])) as Thresholds;

/** Every rule, with the name of each threshold in angle brackets instead of its number. */
export const template: readonly WrittenGroup[] = templateOf(groupsOf(placeholders));

/**
 * Returns these groups in the format of Prometheus, with {@link LINKS} in place of addresses that only the operator
 * knows.
 */
export function templateOf(groups: readonly Group[]): readonly WrittenGroup[] {
  return groups.map((group) => ({ ...group, rules: group.rules.map(written) }));
}

function written(rule: AlertRule | RecordingRule): WrittenRule {
  if ('record' in rule) return { record: rule.record, expr: rule.expr };
  const { alert, expr, severity, summary, description, page } = rule;
  const runbook = remedyOf(rule);
  // The dashboard Runbooks uses the panel of this address; a folder of files uses the page and the section.
  const runbook_url = `${LINKS.runbooks}/${page}.md?viewPanel=${panelOf(alert)}#${alert.toLowerCase()}`;
  const status_url = runbook.includes('/status') ? { status_url: LINKS.status + lineOf(runbook + description) } : {};
  const annotations = { summary, description, runbook, runbook_url, ...status_url };
  return { alert, expr, for: rule.for, keep_firing_for: KEEP_FIRING_FOR, labels: { severity }, annotations };
}

/** Returns the line of the status page that shows the subject of these sentences. */
function lineOf(texts: string): string {
  if (texts.includes('$labels.serial')) return '#a-{{ $labels.serial }}';
  return texts.includes('$labels.api') ? '#api-{{ $labels.api }}' : '#api-portal';
}
