import { chart, timeline } from '../charts.ts';
import { once, quantileOfHour, quantiles } from '../common.ts';
import { limits } from '../limits.ts';
import { words } from '../mappings.ts';
import { table } from '../numbers.ts';
import { drillDown } from '../places.ts';
import { select } from '../select.ts';
import { whilePolled } from '../service.ts';
import { worst } from '../worst.ts';

/** The phase that writes metadata, for which filers need the lock of the volume. */
const P2 = { lock_phase: '="p2"' } as const;
const held = (by: 'filer' | 'volume') => {
  const share = once(whilePolled('gfa', select('volume_filer:filer_lock_duration_seconds:share_rate1h')));
  return `sum by (${by}) (${share})`;
};
const releases = select('filer_lock_events_total', { ...P2, lock_state: '="released"' });

/** The state of a lock as a number. Every filer, volume and phase has exactly one state at a time. */
const states = [
  `max by (filer, volume, lock_phase) (${select('filer_lock_state', { lock_state: '="acquired"' })})`,
  `0 * max by (filer, volume, lock_phase) (${select('filer_lock_state', { lock_state: '="released"' })})`,
  `2 * max by (filer, volume, lock_phase) (${select('filer_lock_state', { lock_state: '!~"acquired|released"' })})`,
].join(' or ');

/** Volumes whose releases have been counted for six hours: over a shorter time the rate would be too low. */
const sixHours = `max by (filer, volume) (${releases} offset 6h)`;

/** Shows who holds the lock of a volume, for how long, and how often. */
export const lockPanels = [
  timeline(
    {
      title: 'Lock state',
      description:
        'The twenty newest lock events, held locks first. While a lock is held, no other filer of the volume can finish a snapshot: check whether the filer that holds it still works on its snapshot.',
      queries: { expr: states, legend: '{{volume}} {{filer}} {{lock_phase}}' },
      width: 24,
      drill: [drillDown('appliance', 'filer')],
    },
    words([0, 'released'], [1, 'held'], [2, 'another state']),
  ),
  chart({
    title: 'Share of time locked, the highest filers',
    ofAll: true,
    description:
      'Share of the last hour for which a filer held locks, over all its volumes. Near 100 % for one volume, no other filer gets the lock: schedule snapshots at other times, or find out why this filer takes so long.',
    queries: { expr: worst(10, held('filer')), legend: '{{filer}}' },
    steps: limits.lockedShare,
    width: 12,
    drill: [drillDown('appliance', 'filer')],
  }),
  chart({
    title: 'Share of time locked, the highest volumes',
    ofAll: true,
    description:
      'Share of the last hour for which the lock of a volume was held, by all filers together. Near 100 %, filers wait for the lock, and protection and propagation of the volume become slow.',
    queries: { expr: worst(10, held('volume')), legend: '{{volume}}' },
    steps: limits.lockedShare,
    width: 12,
    drill: [drillDown('volumes', 'volume')],
  }),
  chart({
    title: 'Time between releases',
    ofAll: true,
    times: 'min',
    description:
      'Mean time between two releases of the lock by a filer on a volume, over six hours, for the ten longest; empty until releases have been counted for as long. Above an hour, check the filer. Above two hours, it rarely gets the lock, or has stopped taking snapshots.',
    queries: {
      expr: worst(10, `1 / (sum by (filer, volume) (${once(`rate(${releases}[6h])`)}) > 0) and ${sixHours}`),
      legend: '{{filer}} on {{volume}}',
    },
    steps: limits.betweenReleases,
    empty:
      'nothing known: file acceleration is down or not configured, or releases have been counted for less than six hours',
    width: 12,
    drill: [drillDown('volumes', 'filer')],
  }),
  chart({
    title: 'Time that locks are held',
    ofAll: true,
    times: 'min',
    description:
      'Median, 90th and 99th percentile of the time for which locks of the last hour were held, on the chosen volumes. Large changes and slow connections cause long locks. If one filer has all the long ones, check it.',
    queries: quantiles((share) => quantileOfHour('gfa', share, 'filer_lock_duration_seconds', { only: P2 })),
    steps: limits.lockHeld,
    width: 12,
  }),
  chart({
    title: 'Time since the last release',
    ofAll: true,
    times: 'min',
    description:
      'Time since a filer last released the lock of a volume. Above two hours, no snapshot of the volume has ended in that time: check which filer holds the lock, or whether any filer requests it.',
    queries: {
      expr: worst(10, `min by (volume) (${select('volume:filer_lock_latest_timestamp_seconds:release_age')})`),
      legend: '{{volume}}',
    },
    steps: limits.betweenReleases,
    width: 7,
    drill: [drillDown('volumes', 'volume')],
  }),
  chart({
    title: 'Lock events by state',
    ofAll: true,
    description:
      'Lock events of the last hour. Acquired and released are equally frequent. If another state appears, report it to the vendor.',
    queries: {
      expr: `round(sum by (lock_phase, lock_state) (${once(whilePolled('gfa', select('volume:filer_lock_events_total:increase1h')))}))`,
      legend: '{{lock_phase}} {{lock_state}}',
    },
    width: 7,
  }),
  table({
    title: 'Newest lock durations',
    description: 'How long each filer held the lock of a volume the last time, the longest first.',
    queries: {
      expr: `topk(50, max by (filer, volume, lock_phase) (${select('filer_lock_latest_duration_seconds')}))`,
      legend: 'Held for',
    },
    columns: [
      { label: 'filer', title: 'Filer', link: drillDown('appliance', 'filer', `$\{__value.text}`) },
      { label: 'volume', title: 'Volume', link: drillDown('volumes', 'volume', `$\{__value.text}`) },
      { label: 'lock_phase', title: 'Phase' },
    ],
    steps: limits.lockHeld,
    width: 10,
    height: 9,
  }),
];
