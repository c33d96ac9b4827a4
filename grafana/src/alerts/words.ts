import { alertRules } from '../../../deploy/prometheus/groups.ts';
import { inhibitRules } from '../../../deploy/prometheus/inhibition.ts';
import type { AlertRule } from '../../../deploy/prometheus/rule.ts';
import { remedyOf } from '../../../deploy/prometheus/runbooks.ts';
import { ofAccount } from '../by-account.ts';
import { select } from '../select.ts';

/** Which alerts a table is about: those on some pages of docs/runbooks, or the ones named. */
export interface About {
  readonly pages?: readonly AlertRule['page'][];
  readonly alerts?: readonly AlertRule['alert'][];
}

/** The alerts that explain why others fire or cannot fire: every table contains them. */
export const OUTAGES: readonly AlertRule['alert'][] = alertRules
  .filter(
    ({ alert, severity, page }) => page === 'exporter' && severity === 'critical' && !alert.includes('Certificate'),
  )
  .map(({ alert }) => alert);

/** The alerts about many filers, jobs or credentials, each with the query of its rule for how many it is about. */
export const affected: Readonly<Record<string, string>> = Object.fromEntries(
  alertRules.flatMap(({ alert, count }) => (count === undefined ? [] : [[alert, ofAccount(count)] as const])),
);

/** Those of them that are about many filers, and explain alerts about one of these filers. */
export const aboutMany: readonly string[] = Object.keys(affected).filter((alert) =>
  inhibitRules.some(({ sources }) => sources.includes(alert)),
);

/**
 * A series that the same rules record or fire. If there is none, the rules are not loaded, or had nothing to record yet.
 */
export const rulesEvaluated = [
  select('filer:last_checkin_age:seconds', { filer: '=~".*"' }),
  select('serial:filer_appliance_series_timestamp_seconds:age', { filer: '=~".*"' }),
  select('ALERTS', { alertname: '=~"Filer.*"' }),
].join(' or ');

/** Returns the alerts that a table is about, and those that explain one of them; all alerts if nothing is chosen. */
export function alertsAbout({ pages, alerts }: About): readonly AlertRule[] {
  if (pages === undefined && alerts === undefined) return alertRules;
  const chosen = alertRules
    .filter(({ alert, page }) => pages?.includes(page) || alerts?.includes(alert))
    .map(({ alert }): string => alert);
  const named = withExplaining([...chosen, ...OUTAGES]);
  return alertRules.filter(({ alert }) => named.includes(alert));
}

/** Adds the alerts that explain one of these, because an explained alert is in no table. */
function withExplaining(names: readonly string[]): readonly string[] {
  const more = inhibitRules
    .filter(({ targets }) => targets.some((target) => names.includes(target)))
    .flatMap(({ sources }) => sources.filter((source) => !names.includes(source)));
  return more.length === 0 ? names : withExplaining([...names, ...more]);
}

/** The number of characters that two lines of the narrowest column have. */
const ROOM = 84;

/** Returns the first step of an alert's runbook, without the values of the alert: a sentence, or its first clauses that fit. */
export function firstStep(rule: AlertRule): string {
  const text = remedyOf(rule)
    .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, 'the $1')
    .replaceAll('`', '');
  const [step = ''] = text.replace('1. ', '').split(/ 2\. | Escalate: /);
  const [sentence = ''] = step.split(/(?<=[.:]) (?=[A-Z])/);
  const fits = [sentence, ...[/[:;](?= )/g, /,? (?=and |which )|,(?= )/g].map((ends) => upTo(sentence, ends))];
  const found = fits.find((one) => one !== '' && one.length <= ROOM);
  if (found === undefined)
    throw new Error(`${rule.alert}: no beginning of its first step has at most ${ROOM} characters`);
  return found;
}

/** Returns the longest beginning of a sentence that has room and ends here; not a condition alone, nor half a bracket. */
function upTo(sentence: string, ends: RegExp): string {
  const beginnings = [...sentence.matchAll(ends)].map(({ index }) => `${sentence.slice(0, index)}.`);
  return beginnings.findLast((one) => one.length <= ROOM && !/^If [^,]*$|\([^)]*$/.test(one)) ?? '';
}

/**
 * Returns the series of a query with the name of the alert in these labels too, because each column shows another fact
 * about it.
 */
export function withName(query: string, ...labels: readonly string[]): string {
  return labels.reduce((so, label) => `label_replace(${so}, "${label}", "$1", "alertname", "(.*)")`, query);
}
