import { alertRules } from '../../../deploy/prometheus/groups.ts';
import type { AlertRule } from '../../../deploy/prometheus/rule.ts';
import { remedyOf } from '../../../deploy/prometheus/runbooks.ts';
import { select } from '../select.ts';

/** Which alerts a table is about: those on some pages of docs/runbooks, or the ones named. */
export interface About {
  readonly pages?: readonly AlertRule['page'][];
  readonly alerts?: readonly AlertRule['alert'][];
}

/** The alerts that explain why others fire or cannot fire: every table contains them. */
export const OUTAGES: readonly AlertRule['alert'][] = [
  'FilerExporterAbsent',
  'FilerExporterDown',
  'FilerApiDown',
  'FilerApiTokenRefused',
  'FilerApiForbidden',
];

/**
 * A series that the same rules record or fire. If there is none, the rules are not loaded, or had nothing to record yet.
 */
export const rulesEvaluated = [
  select('filer:last_checkin_age:seconds', { filer: '=~".*"' }),
  select('serial:filer_appliance_series_timestamp_seconds:age', { filer: '=~".*"' }),
  select('ALERTS', { alertname: '=~"Filer.*"' }),
].join(' or ');

/** Returns the alerts that a table is about; all alerts if nothing is chosen. */
export function alertsAbout({ pages, alerts }: About): readonly AlertRule[] {
  if (pages === undefined && alerts === undefined) return alertRules;
  return alertRules.filter(
    ({ alert, page }) => pages?.includes(page) || alerts?.includes(alert) || OUTAGES.includes(alert),
  );
}

/** Returns the first step of an alert's runbook, without the values of the alert, shortened to two lines of a table. */
export function firstStep(rule: AlertRule): string {
  const text = remedyOf(rule)
    .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, 'the $1')
    .replaceAll('`', '');
  const [step = ''] = text.replace('1. ', '').split(/ 2\. | Escalate: /);
  const sentence = /^.{40,}?[.:](?= [A-Z])/.exec(step)?.[0] ?? step;
  // Two lines of the narrowest column; the runbook has the rest.
  return sentence.length <= 84 ? sentence : `${sentence.slice(0, 84).replace(/\W*\s\S*$/, '')} …`;
}

/**
 * Returns the series of a query with the name of the alert in these labels too, because each column shows another fact
 * about it.
 */
export function withName(query: string, ...labels: readonly string[]): string {
  return labels.reduce((so, label) => `label_replace(${so}, "${label}", "$1", "alertname", "(.*)")`, query);
}
