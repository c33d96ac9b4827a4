import { bucketHeatmap, chart } from '../charts.ts';
import { once, quantiles } from '../common.ts';
import { limits } from '../limits.ts';
import { table } from '../numbers.ts';
import { drillDown } from '../places.ts';
import { quantileOfHour, select } from '../select.ts';
import { worst } from '../worst.ts';

const histogram = 'filer_propagation_duration_seconds';

/** How long data takes to reach other filers. */
export const propagationPanels = [
  chart({
    title: 'Propagation time, quantiles',
    description:
      'Half, nine tenths and 99 of 100 events of the last hour were at least so quick, on the volumes that are chosen. When p50 rises, all filers wait: look at locks and time to protect. When only p99 does, look for the filer or volume below.',
    queries: quantiles((share) => quantileOfHour(share, histogram, { by: ['kind'] }), ' {{kind}}'),
    steps: limits.propagation,
    width: 12,
  }),
  bucketHeatmap({
    title: 'Propagation times',
    description:
      'How many events took how long: the darker, the more. Two bands mean two kinds of sites or volumes; a band that wanders up is a queue that grows.',
    queries: {
      expr: `sum by (le) (${once(`increase(${select(`${histogram}_bucket`)}[$__rate_interval])`)})`,
      legend: '{{le}}',
    },
    measures: `sum(${select(`${histogram}_sum`)})`,
    width: 12,
  }),
  chart({
    title: 'Propagation p90, the slowest filers',
    description:
      'Where data arrives late: what nine of ten events of the last hour did not exceed, on the slowest volume of each filer. One that stands out has a slow line or a busy disk: open it and compare its network and its cache disk.',
    queries: {
      expr: worst(10, `max by (filer) (${select(`volume_filer:${histogram}:p90_rate1h`)})`),
      legend: '{{filer}}',
    },
    steps: limits.propagation,
    width: 12,
    drill: [drillDown('appliance', 'filer')],
  }),
  chart({
    title: 'Propagation p90, the slowest volumes',
    description:
      'Which data arrives late. A volume that stands out waits for its lock, or has much to move: see who holds the lock, and how long.',
    queries: { expr: worst(10, `${quantileOfHour(0.9, histogram, { by: ['volume'] })} >= 0`), legend: '{{volume}}' },
    steps: limits.propagation,
    width: 12,
    drill: [drillDown('volumes', 'volume')],
  }),
  chart({
    title: 'Propagation events',
    description:
      'Events in the event window, by kind. None at all while people work means that nothing is shared any more: look at the locks and at the check-ins.',
    queries: {
      expr: `round(sum by (kind) (${once(`increase(${select(`${histogram}_count`)}[$window])`)}))`,
      legend: '{{kind}}',
    },
    width: 7,
  }),
  chart({
    title: 'File system events covered',
    description:
      'How many changes of files the propagation events stood for, in the event window, on the ten busiest volumes. It shows which volume is busy and which one is slow. Empty where the service does not report it.',
    queries: {
      expr: worst(
        10,
        `round(sum by (volume) (${once(`increase(${select('filer_data_protected_events_total')}[$window])`)}))`,
      ),
      legend: '{{volume}}',
    },
    width: 7,
    drill: [drillDown('volumes', 'volume')],
  }),
  table({
    title: 'Newest propagation',
    description: 'The newest event of each filer, volume and kind: what users saw last. Long ones at the top.',
    queries: {
      expr: `topk(50, max by (filer, volume, kind) (${select('filer_propagation_latest_seconds')}))`,
      legend: 'Took',
    },
    columns: [
      { label: 'filer', title: 'Filer', link: drillDown('appliance', 'filer', `$\{__value.text}`) },
      { label: 'volume', title: 'Volume', link: drillDown('volumes', 'volume', `$\{__value.text}`) },
      { label: 'kind', title: 'Kind' },
    ],
    steps: limits.propagation,
    width: 10,
  }),
];
