import { alertRules } from '../../../deploy/prometheus/groups.ts';
import type { AlertRule } from '../../../deploy/prometheus/rule.ts';
import { remedyOf } from '../../../deploy/prometheus/runbooks.ts';
import { select } from '../select.ts';

/** Which alerts a table is about: those on some pages of docs/runbooks, or the ones named. */
export interface About {
  readonly pages?: readonly AlertRule['page'][];
  readonly alerts?: readonly AlertRule['alert'][];
}

/** What explains that others fire, or that none does: part of every table. */
export const OUTAGES: readonly AlertRule['alert'][] = [
  'FilerExporterAbsent',
  'FilerExporterDown',
  'FilerApiDown',
  'FilerApiTokenRefused',
  'FilerApiForbidden',
];

/** Recorded by the same rules, or fired by them: where none is, they are not loaded, or had nothing to record yet. */
export const rulesEvaluated = [
  select('filer:last_checkin_age:seconds', { filer: '=~".*"' }),
  select('serial:filer_appliance_series_timestamp_seconds:age', { filer: '=~".*"' }),
  select('ALERTS', { alertname: '=~"Filer.*"' }),
].join(' or ');

/** The alerts that a table is about; all of them, where nothing is chosen. */
export function alertsAbout({ pages, alerts }: About): readonly AlertRule[] {
  if (pages === undefined && alerts === undefined) return alertRules;
  return alertRules.filter(
    ({ alert, page }) => pages?.includes(page) || alerts?.includes(alert) || OUTAGES.includes(alert),
  );
}

/** The first thing to do about an alert, as its runbook says it, where one line holds for every filer. */
export function firstStep(rule: AlertRule): string {
  const text = remedyOf(rule)
    .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, 'the $1')
    .replaceAll('`', '');
  const [step = ''] = text.replace('1. ', '').split(/ 2\. | Escalate: /);
  const sentence = /^.{40,}?[.:](?= [A-Z])/.exec(step)?.[0] ?? step;
  // Two lines of the narrowest column; the runbook has the rest.
  return sentence.length <= 84 ? sentence : `${sentence.slice(0, 84).replace(/\W*\s\S*$/, '')} …`;
}

/** A query's series with the name of the alert in these labels too: each column shows something else about it. */
export function withName(query: string, ...labels: readonly string[]): string {
  return labels.reduce((so, label) => `label_replace(${so}, "${label}", "$1", "alertname", "(.*)")`, query);
}
