import { bucketHeatmap, chart } from '../charts.ts';
import { once, propagation, quantileOfHour, quantiles } from '../common.ts';
import { limits } from '../limits.ts';
import { table } from '../numbers.ts';
import { drillDown } from '../places.ts';
import { select } from '../select.ts';
import { whilePolled } from '../service.ts';
import { worst } from '../worst.ts';

const histogram = 'filer_propagation_duration_seconds';

/** How long data takes to reach other filers. */
export const propagationPanels = [
  chart({
    title: 'Propagation time, quantiles',
    ofAll: true,
    times: 'min',
    description:
      'Median, 90th and 99th percentile of the propagation times of the last hour, on the chosen volumes; the pale line is the 90th percentile of all kinds a week before. If p50 rises, all filers wait: check locks and time to protect. If only p99 rises, find the filer or volume below.',
    queries: [
      ...quantiles((share) => quantileOfHour('gfa', share, histogram, { by: ['kind'] }), ' {{kind}}'),
      { expr: quantileOfHour('gfa', 0.9, histogram, { offset: ' offset 7d' }), legend: 'a week before' },
    ],
    steps: limits.propagation,
    width: 12,
  }),
  bucketHeatmap({
    title: 'Propagation times',
    description:
      'The distribution of propagation times; the scale of colours shows how many events. Two bands mean two kinds of sites or volumes. If a band rises, a queue grows.',
    queries: {
      expr: `round(sum by (le) (${once(`increase(${select(`${histogram}_bucket`)}[$__rate_interval])`)}))`,
      legend: '{{le}}',
    },
    measures: `sum(${select(`${histogram}_sum`)})`,
    width: 12,
  }),
  chart({
    title: 'Propagation p90, the slowest filers',
    ofAll: true,
    times: 'min',
    description:
      'The 90th percentile of propagation in the last hour, on the slowest volume of each filer. If one filer is much slower than the others, its connection or disk is slow: compare its network and its cache disk.',
    queries: {
      expr: worst(10, `max by (filer) (${propagation})`),
      legend: '{{filer}}',
    },
    steps: limits.propagation,
    width: 12,
    drill: [drillDown('appliance', 'filer')],
  }),
  chart({
    title: 'Propagation p90, the slowest volumes',
    ofAll: true,
    times: 'min',
    description:
      'The 90th percentile of propagation by volume. If one volume is much slower than the others, it waits for its lock or has large changes: see who holds the lock, and for how long.',
    queries: {
      expr: worst(10, `${quantileOfHour('gfa', 0.9, histogram, { by: ['volume'] })} >= 0`),
      legend: '{{volume}}',
    },
    steps: limits.propagation,
    width: 12,
    drill: [drillDown('volumes', 'volume')],
  }),
  chart({
    title: 'Propagation events',
    ofAll: true,
    description:
      'Events in the event window, by kind. If there are none while people work, no change reaches other sites: check the locks and the check-ins.',
    queries: {
      expr: `round(sum by (kind) (${once(whilePolled('gfa', `increase(${select(`${histogram}_count`)}[$window])`))}))`,
      legend: '{{kind}}',
    },
    width: 7,
  }),
  chart({
    title: 'File system events covered',
    ofAll: true,
    description:
      'Changes of files that the propagation events cover, in the event window, on the ten busiest volumes. Empty if the service does not report their number.',
    queries: {
      expr: worst(
        10,
        `round(sum by (volume) (${once(whilePolled('gfa', `increase(${select('filer_data_protected_events_total')}[$window])`))}))`,
      ),
      legend: '{{volume}}',
    },
    width: 7,
    drill: [drillDown('volumes', 'volume')],
  }),
  table({
    title: 'Newest propagation',
    description: 'The newest propagation event of each filer, volume and kind, the longest first.',
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
    height: 9,
  }),
];
