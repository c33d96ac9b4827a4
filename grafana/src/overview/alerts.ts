import { LABELS_ALONE, number, table } from '../numbers.ts';
import { drillDown, more } from '../places.ts';
import { select } from '../select.ts';
import { above, plain } from '../steps.ts';

/** What needs a look, by name. */
export const alertPanels = [
  table({
    title: 'Alerts',
    description:
      'Alerts of the shipped rules that fire, or will when what they watch goes on for long enough. Empty when the rules are not loaded, too. Each alert has a page in docs/runbooks.',
    queries: [
      {
        expr: `max by (alertname, alertstate, severity, filer, volume, api) (${select('ALERTS', { alertname: '=~"Filer.*"' })})`,
        legend: LABELS_ALONE,
      },
    ],
    columns: [
      { label: 'alertname', title: 'Alert' },
      { label: 'alertstate', title: 'State' },
      { label: 'severity', title: 'Severity' },
      { label: 'filer', title: 'Filer', link: drillDown('volumes', 'filer', `$\{__value.text}`) },
      { label: 'volume', title: 'Volume', link: drillDown('volumes', 'volume', `$\{__value.text}`) },
      { label: 'api', title: 'Service' },
    ],
    steps: plain,
    width: 16,
    empty: 'no alert',
  }),
  number({
    title: 'Age of the data',
    description:
      'Time since the last good poll of the task that waits longest, by service. When it grows, the Exporter dashboard says whether the service fails, throttles or is over its limit.',
    queries: [
      {
        expr: `max by (api) (${select('filer_exporter_data_age_seconds', { statistic: '="worst"' })})`,
        legend: '{{api}}',
      },
    ],
    steps: above(900, 1800),
    width: 8,
    height: 8,
    links: [more('exporter')],
  }),
];
