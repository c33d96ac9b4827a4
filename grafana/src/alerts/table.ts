import type { PanelBuilder } from '@grafana/grafana-foundation-sdk/table';
import { inhibitRules } from '../../../deploy/prometheus/inhibition.ts';
import type { AlertRule } from '../../../deploy/prometheus/rule.ts';
import { severities, texts } from '../mappings.ts';
import { table } from '../numbers.ts';
import { drillDown, runbook } from '../places.ts';
import { type Scope, select } from '../select.ts';
import { down, type Service } from '../service.ts';
import { numbersOf } from './numbers.ts';
import { type About, alertsAbout, firstStep, OUTAGES, rulesEvaluated, withRunbook } from './words.ts';

/** What an alert is about, beside a filer. */
const ABOUT = ['volume', 'api', 'resource', 'action', 'list', 'disk', 'type', 'kind', 'reason', 'instance'];
const described = (query: string) =>
  `label_replace(label_join(${query}, "about", " ", ${ABOUT.map((label) => `"${label}"`).join(', ')}), "about", "$1", "about", " *(.*?) *")`;

/** What a number is about. */
const NUMBERED = 'job, alertname, filer, volume, api, type';

/** The labels that tell one alert from another. A second exporter's of the same account is the same alert. */
const SAME = `${NUMBERED}, about`;

/** How many rows an alert has at most. */
const ROWS = 5;

/** Whose outage explains that alerts of a page fire: nothing new is known of what they are about. */
const services: Readonly<Partial<Record<AlertRule['page'], Service>>> = {
  'file-acceleration': 'gfa',
  appliances: 'portal',
  portal: 'portal',
};

/** The alerts of a severity that fire, as one series each, without those that are as old as an outage. */
function firing(about: About, scope: Scope, severity: AlertRule['severity']): string {
  const alerts = alertsAbout(about).filter((rule) => rule.severity === severity);
  const matchers = Object.fromEntries(
    Object.entries(scope).map(([label, which]) => [label, `=~"$${label}${which === 'alone' ? '' : '|'}"`]),
  );
  const of = (rules: readonly AlertRule[], own: Readonly<Record<string, string>>) =>
    select('ALERTS', {
      alertname: `=~"${rules.map(({ alert }) => alert).join('|')}"`,
      ...own,
      alertstate: '="firing"',
    });
  const groups = [undefined, 'gfa', 'portal'] as const;
  const parts = groups.flatMap((service) => {
    const rules = alerts.filter(({ alert, page }) => !OUTAGES.includes(alert) && services[page] === service);
    if (rules.length === 0) return [];
    return [service === undefined ? of(rules, matchers) : `${of(rules, matchers)} unless on (job) ${down(service)}`];
  });
  // An outage has no filer, and is about each.
  const outages = alerts.filter(({ alert }) => OUTAGES.includes(alert));
  const all = `(${[...parts, ...(outages.length === 0 ? [] : [of(outages, {})])].join(' or ')})`;
  return [all, ...explained(alerts)].join(' unless ');
}

/** Those of these alerts that another one explains, as Alertmanager is told to hold them back. */
function explained(alerts: readonly AlertRule[]): readonly string[] {
  const of = (names: readonly string[]) =>
    select('ALERTS', { alertname: `=~"${names.join('|')}"`, alertstate: '="firing"' });
  return inhibitRules.flatMap(({ sources, targets, equal }) => {
    const held = targets.filter((name) => alerts.some(({ alert }) => alert === name));
    return held.length === 0 ? [] : [`(${of(held)} and on (${equal.join(', ')}) ${of(sources)})`];
  });
}

/** How many alerts of a severity fire. */
export function firingCount(about: About, scope: Scope, severity: AlertRule['severity']): string {
  return `count(max by (${SAME}) (${described(firing(about, scope, severity))}))`;
}

/** Where no alert fires: that is known only of rules that were evaluated. Another board may have one. */
const calm = ({ pages }: About) =>
  `label_replace(NaN * group(${rulesEvaluated}), "alertname", "no alert ${pages === undefined ? '' : 'of this board '}fires", "", "")`;

/**
 * What is broken, where, since when, how bad, and what to do first: the alerts that fire, critical ones first. One query, so
 * that nothing has to be put together from several.
 */
export function alertTable(text: {
  readonly title: string;
  readonly about: About;
  /** The variables of the dashboard that narrow it. */
  readonly scope: Scope;
  readonly height: number;
}): PanelBuilder {
  const { about, scope } = text;
  const alerts = alertsAbout(about);
  const since = select('ALERTS_FOR_STATE', { alertname: '=~"Filer.*"' });
  // The rank is what the table sorts by.
  const ages = (severity: AlertRule['severity'], rank: number, most: number) => {
    if (!alerts.some((rule) => rule.severity === severity)) return [];
    const age = `max by (${SAME}) (${described(`(time() - ${since}) and ignoring (alertstate) (${firing(about, scope, severity)})`)})`;
    const worst = `label_replace(topk(${most}, topk by (alertname) (${ROWS}, ${age})), "severity", "${rank} ${severity}", "", "")`;
    const many = `count by (alertname) (${age})`;
    const inAll = `(count_values by (alertname) ("in_all", ${many} > ${ROWS}) or on (alertname) group by (alertname) (${many}))`;
    return [`${worst} * on (alertname) group_left (in_all) ${inAll}`];
  };
  const shown = [...ages('critical', 1, 25), ...ages('warning', 2, 20)].join(' or ');
  const numbers = numbersOf(alerts, scope);
  // An alert without a number; the column stays when all are.
  const none = `label_replace(group by (${NUMBERED}) (${select('ALERTS', { alertstate: '="firing"' })}), "how_bad", "–", "", "")`;
  const rows = `(${shown}) * on (${NUMBERED}) group_left (how_bad) max by (${NUMBERED}, how_bad) (${numbers} or on (${NUMBERED}) ${none})`;
  return table({
    title: text.title,
    description: `Alerts that fire, critical ones first, then by how long they have gone on: what is broken, where, how bad, since when, and what to do first. A click on that opens the runbook. Of each alert the five that have gone on longest are shown; “In all” says how many there are. What an outage or another alert explains is left out.`,
    queries: { expr: `${withRunbook(rows, alerts)} or on () ${calm(about)}`, legend: 'Since' },
    columns: [
      { label: 'alertname', title: 'Alert', width: 228, wrap: true },
      { label: 'severity', title: 'Severity', width: 100, mappings: severities },
      ...(scope.filer === 'alone'
        ? []
        : [{ label: 'filer', title: 'Filer', width: 140, link: drillDown('appliance', 'filer', `$\{__value.text}`) }]),
      { label: 'about', title: 'About', width: 116, wrap: true },
      { label: 'how_bad', title: 'How bad', width: 92 },
      { label: 'in_all', title: 'In all', width: 60 },
      {
        label: 'next',
        title: 'Do first',
        wrap: true,
        link: runbook(),
        mappings: texts(Object.fromEntries(alerts.map((rule) => [`${rule.page}.md#${rule.alert}`, firstStep(rule)]))),
      },
    ],
    valueWidth: 86,
    width: 24,
    height: text.height,
    sortedBy: [
      ['Severity', 'up'],
      ['Since', 'down'],
    ],
    empty: 'unknown: the rules are not loaded, or were not evaluated yet',
  });
}
