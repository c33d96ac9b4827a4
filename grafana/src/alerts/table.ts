import type { PanelBuilder } from '@grafana/grafana-foundation-sdk/table';
import type { AlertRule } from '../../../deploy/prometheus/rule.ts';
import { panelOf } from '../../../deploy/prometheus/runbooks.ts';
import { once } from '../common.ts';
import { PENDING, severities, texts } from '../mappings.ts';
import { NOTHING } from '../nothing.ts';
import { table } from '../numbers.ts';
import { drillDown, runbook } from '../places.ts';
import { type Scope, select } from '../select.ts';
import { type About, aboutMany, affected, alertsAbout, firstStep, OUTAGES, rulesEvaluated, withName } from './words.ts';

/** How many alerts are shown at most. */
const ROWS = 40;

/** Selects what a series of alerts has about these alerts, within the variables of the dashboard. */
function chosen(series: string, about: About, scope: Scope, more: Readonly<Record<string, string>> = {}): string {
  const isAll = about.pages === undefined && about.alerts === undefined;
  const names = alertsAbout(about).map(({ alert }) => alert);
  const of = (rules: readonly string[], narrowed: Readonly<Record<string, string>>) =>
    select(series, {
      filer: '=~".*"',
      volume: '=~".*"',
      ...narrowed,
      ...(rules.length === 0 ? {} : { alertname: `=~"${rules.join('|')}"` }),
      ...more,
    });
  // An alert without a filer concerns every filer, so only the dashboard of one filer hides it.
  const matchers = Object.fromEntries(
    Object.entries(scope).map(([label, which]) => [label, `=~"$${label}${which === 'alone' ? '' : '|'}"`]),
  );
  const own = of(isAll ? [] : names, matchers);
  // Alerts about many filers have no filer, and explain those about one.
  return scope.filer === 'alone' ? `(${own} or ${of([...OUTAGES, ...aboutMany], {})})` : own;
}

/** For how long each alert has been firing that nothing else explains, as the rules recorded it. */
function unexplained(about: About, scope: Scope, severity?: AlertRule['severity']): string {
  return chosen(
    'alert:ALERTS:unexplained_age',
    about,
    scope,
    severity === undefined ? {} : { severity: `="${severity}"` },
  );
}

/** How many alerts of a severity fire. */
export function firingCount(about: About, scope: Scope, severity: AlertRule['severity']): string {
  return `count(${unexplained(about, scope, severity)})`;
}

/** The filers about which a critical alert fires. It explains every alert about them that is still pending. */
const inTrouble = select('ALERTS', { filer: '=~".+"', severity: '="critical"', alertstate: '="firing"' });

/** The alerts that do not fire yet. */
function pending(about: About, scope: Scope): string {
  return `(${chosen('ALERTS', about, scope, { alertstate: '="pending"' })} unless on (filer) ${inTrouble})`;
}

/** For each name of an alert: the pending alert whose condition has held for longest, and for how long. */
function firstPending(about: About, scope: Scope): string {
  const held = `(time() - ${chosen('ALERTS_FOR_STATE', about, scope)} and ignoring (alertstate) ${pending(about, scope)})`;
  const of = `label_replace(label_replace(${held}, "about", "$1", "volume", "(.+)"), "about", "$1", "api", "(.+)")`;
  const first = `topk by (alertname) (1, max by (alertname, severity, filer, about) (${of}))`;
  return `label_replace(${first}, "severity", "${PENDING}$1", "severity", "(.*)")`;
}

/**
 * A row that says that no alert fires and none is pending. This is known only if the rules were evaluated, and only while no
 * service is down.
 */
const calm = ({ pages }: About) =>
  [
    ['alertname', `no alert ${pages === undefined ? '' : 'of this board '}fires, and none is pending`],
    ['severity', 'none'],
    ['number', '0'],
    ['filer', NOTHING],
    ['next', NOTHING],
  ].reduce(
    (row, [label, value]) => `label_replace(${row}, "${label}", "${value}", "", "")`,
    `(NaN * group(${rulesEvaluated}) unless on () ${select('filer_api_down_info')})`,
  );

/**
 * Lists what is broken, since when, how often, where first, and what to do: one row for each alert that fires, critical
 * ones first. It is one query, so that Grafana has nothing to join.
 */
export function alertTable(text: {
  readonly title: string;
  readonly about: About;
  /** The variables of the dashboard that limit the table. */
  readonly scope: Scope;
  readonly height: number;
}): PanelBuilder {
  const { about, scope } = text;
  const alerts = alertsAbout(about);
  const all = unexplained(about, scope);
  const first = `topk by (alertname) (1, ${all})`;
  const many = Object.entries(affected)
    .filter(([name]) => alerts.some(({ alert }) => alert === name))
    .map(([name, filers]) => `label_replace(${filers}, "alertname", "${name}", "", "")`);
  const counts = [all, once(pending(about, scope))].map((each) => `count by (alertname) (${each})`);
  const number = `count_values by (alertname) ("number", ${[...many, ...counts].join(' or on (alertname) ')})`;
  const rows = `(${first} or on (alertname) ${firstPending(about, scope)}) * on (alertname) group_left (number) ${number}`;
  return table({
    title: text.title,
    description:
      'One row for each alert that fires, critical ones first, then the oldest: what is broken, how often, where it began, since when, and what to do first. A click on the step opens the runbook. An alert that an outage or another alert explains is left out. The last rows are pending: they fire if their condition lasts.',
    queries: {
      expr: `${withName(`topk(${ROWS}, ${rows})`, 'next', 'runbook')} or on () ${calm(about)}`,
      legend: 'Since',
    },
    columns: [
      { label: 'alertname', title: 'Alert', width: 228, wrap: true },
      { label: 'severity', title: 'Severity', width: 100, mappings: severities },
      { label: 'number', title: 'Number', width: 76 },
      ...(scope.filer === 'alone'
        ? []
        : [{ label: 'filer', title: 'First', width: 140, link: drillDown('appliance', 'filer', `$\{__value.text}`) }]),
      { label: 'about', title: 'About', width: 120, wrap: true },
      {
        label: 'next',
        title: 'Do first',
        wrap: true,
        link: runbook('Runbook'),
        mappings: texts(Object.fromEntries(alerts.map((rule) => [rule.alert, firstStep(rule)]))),
      },
      {
        label: 'runbook',
        title: 'Runbook',
        isHidden: true,
        mappings: texts(Object.fromEntries(alerts.map(({ alert }) => [alert, `${panelOf(alert)}`]))),
      },
    ],
    valueWidth: 86,
    width: 24,
    height: text.height,
    sortedBy: [
      ['Severity', 'up'],
      ['Since', 'down'],
    ],
    empty: 'not known: a service is down, or the rules are not loaded or were not evaluated yet',
  });
}
