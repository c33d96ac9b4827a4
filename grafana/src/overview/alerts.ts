import { number, stepsOf, table } from '../numbers.ts';
import { drillDown, more } from '../places.ts';
import { select } from '../select.ts';
import { noneAllowed, noneExpected, plain } from '../steps.ts';

const LABELS = 'alertname, severity, filer, volume, api, resource';
const firing = select('ALERTS', { alertstate: '="firing"', alertname: '=~"Filer.*"' });
const since = select('ALERTS_FOR_STATE', { alertname: '=~"Filer.*"' });
/** How long those of a severity have gone on. A second exporter's is the same alert. The rank is what a table sorts by. */
const ages = (severity: string, rank: number, most: number) => {
  const fired = firing.replace('}', `,severity="${severity}"}`);
  const age = `max by (${LABELS}) ((time() - ${since}) and ignoring (alertstate) ${fired})`;
  return `label_replace(topk(${most}, ${age}), "severity", "${rank} ${severity}", "severity", ".*")`;
};
const count = (severity: string) =>
  `count(max by (${LABELS}, disk) (${firing.replace('}', `,severity="${severity}"}`)}))`;
/** Recorded by the same rules: where it is not, they are not loaded, and silence says nothing. */
const loaded = `0 * count(${select('filer:last_checkin_age:seconds', { filer: '=~".*"' })} or ${select('serial:filer_appliance_series_timestamp_seconds:age', { filer: '=~".*"' })})`;

/** What is broken, where, and since when. */
export const alertTable = table({
  title: 'What is broken',
  description:
    'Alerts that fire: critical ones first, then by how long they have gone on. What to do stands in the annotation “runbook” of each, and in docs/runbooks under its name. At most 30 critical and 20 others are shown.',
  queries: [
    { expr: [ages('critical', 1, 30), ages('warning', 2, 15), ages('info', 3, 5)].join(' or '), legend: 'Since' },
  ],
  columns: [
    { label: 'severity', title: 'Severity' },
    { label: 'alertname', title: 'Alert' },
    { label: 'filer', title: 'Filer', link: drillDown('appliance', 'filer', `$\{__value.text}`) },
    { label: 'volume', title: 'Volume', link: drillDown('volumes', 'volume', `$\{__value.text}`) },
    { label: 'resource', title: 'Job of' },
    { label: 'api', title: 'Service' },
  ],
  steps: plain,
  width: 24,
  height: 9,
  sortedBy: ['Severity'],
});

/** How many fire, and whether any could. */
export const firingNumbers = stepsOf(
  number({
    title: 'Alerts that fire',
    description:
      'Alerts of the shipped rules that fire, by severity. “Rules not loaded”: this Prometheus does not evaluate them, and silence says nothing.',
    queries: [
      { expr: `${count('critical')} or ${loaded}`, legend: 'critical' },
      { expr: `${count('warning')} or ${loaded}`, legend: 'warning' },
    ],
    steps: noneExpected,
    width: 6,
    links: [more('exporter')],
    empty: 'rules not loaded',
  }),
  'critical',
  noneAllowed,
);
