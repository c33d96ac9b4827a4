import type { PanelBuilder } from '@grafana/grafana-foundation-sdk/table';
import { severities, texts } from '../mappings.ts';
import { table } from '../numbers.ts';
import { drillDown, runbook } from '../places.ts';
import { type Scope, select } from '../select.ts';
import { plain } from '../steps.ts';
import { numbersOf } from './numbers.ts';
import { type About, alertsAbout, firstStep, OUTAGES, withRunbook } from './words.ts';

/** What an alert is about, beside a filer and a volume. */
const ABOUT = ['api', 'resource', 'action', 'list', 'disk', 'type', 'kind', 'reason', 'instance'];
const described = (query: string) =>
  `label_replace(label_join(${query}, "about", " ", ${ABOUT.map((label) => `"${label}"`).join(', ')}), "about", "$1", "about", " *(.*?) *")`;

/** What a number is about. */
const NUMBERED = 'job, alertname, filer, volume';

/** The labels that tell one alert from another. A second exporter's of the same account is the same alert. */
const SAME = `${NUMBERED}, about`;

/** The alerts that fire, as one series each. */
function firing(about: About, scope: Scope, severity: string): string {
  const names = alertsAbout(about).map(({ alert }) => alert);
  const all = names.length === alertsAbout({}).length;
  const of = (name: string, scoped: Scope) =>
    select('ALERTS', {
      alertname: name,
      ...Object.fromEntries(
        Object.entries(scoped).map(([label, which]) => [label, `=~"$${label}${which === 'alone' ? '' : '|'}"`]),
      ),
      ...{ alertstate: '="firing"', severity: `="${severity}"` },
    });
  const own = of(all ? '=~"Filer.*"' : `=~"${names.join('|')}"`, scope);
  // An outage has no filer, and is about each.
  return scope.filer === 'alone' ? `(${own} or ${of(`=~"${OUTAGES.join('|')}"`, {})})` : own;
}

/** How many alerts of a severity fire. */
export function firingCount(about: About, scope: Scope, severity: string): string {
  return `count(max by (${SAME}) (${described(firing(about, scope, severity))}))`;
}

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
  const ages = (severity: string, rank: number, most: number) => {
    const age = described(`(time() - ${since}) and ignoring (alertstate) ${firing(about, scope, severity)}`);
    return `topk(${most}, topk by (alertname) (5, max by (${SAME}, severity) (label_replace(${age}, "severity", "${rank} ${severity}", "", ""))))`;
  };
  const shown = [ages('critical', 1, 25), ages('warning', 2, 20)].join(' or ');
  const numbers = numbersOf(alerts, scope);
  // An alert without a number; the column stays when all are.
  const none = `label_replace(group by (${NUMBERED}) (${select('ALERTS', { alertstate: '="firing"' })}), "how_bad", "–", "", "")`;
  const rows =
    numbers === undefined
      ? shown
      : `(${shown}) * on (${NUMBERED}) group_left (how_bad) max by (${NUMBERED}, how_bad) (${numbers} or on (${NUMBERED}) ${none})`;
  return table({
    title: text.title,
    description: `Alerts that fire, critical ones first, then by how long they have gone on: what is broken, where, how bad, since when, and what to do first. A click on that opens the runbook. Of each alert the five that have gone on longest are shown, 25 critical ones and 20 warnings at most.`,
    queries: [{ expr: withRunbook(rows, alerts), legend: 'Since' }],
    columns: [
      { label: 'severity', title: 'Severity', width: 105, mappings: severities },
      { label: 'alertname', title: 'Alert', width: 230 },
      ...(scope.filer === 'alone'
        ? []
        : [{ label: 'filer', title: 'Filer', width: 110, link: drillDown('appliance', 'filer', `$\{__value.text}`) }]),
      { label: 'volume', title: 'Volume', width: 100, link: drillDown('volumes', 'volume', `$\{__value.text}`) },
      { label: 'about', title: 'About', width: scope.filer === undefined ? 200 : 130 },
      ...(numbers === undefined ? [] : [{ label: 'how_bad', title: 'How bad', width: 100 }]),
      {
        label: 'next',
        title: 'Do first',
        link: runbook(),
        mappings: texts(Object.fromEntries(alerts.map((rule) => [`${rule.page}.md#${rule.alert}`, firstStep(rule)]))),
      },
    ],
    valueWidth: 90,
    steps: plain,
    width: 24,
    height: text.height,
    sortedBy: [
      ['Severity', 'up'],
      ['Since', 'down'],
    ],
    empty: 'No alert fires, or the rules are not loaded',
  });
}
