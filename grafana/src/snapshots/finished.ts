import { chart } from '../charts.ts';
import { once, quantiles } from '../common.ts';
import { limits } from '../limits.ts';
import { table } from '../numbers.ts';
import { drillDown } from '../places.ts';
import { quantileOfHour, select } from '../select.ts';
import { noneExpected, plain } from '../steps.ts';
import { worst } from '../worst.ts';

const pair = (gauge: string) => `max by (filer, volume) (${select(gauge)})`;
const ended = `time() - ${pair('filer_snapshot_latest_timestamp_seconds')}`;
const ofOldest = (query: string) => `${query} and on (filer, volume) topk(50, ${ended})`;
const onItsWay = pair('filer_snapshot_latest_propagation_seconds');
const ofSlowest = (query: string) => `${query} and on (filer, volume) topk(50, ${onItsWay})`;

/** The snapshots that appliances finished: how often, how long, how large. */
export const finishedPanels = [
  chart({
    title: 'Snapshots finished, busiest volumes',
    description:
      'Snapshots finished in the event window, by volume. A volume at zero while people work is not protected: see the lock and the state above.',
    queries: [
      {
        expr: worst(10, `round(sum by (volume) (${once(`increase(${select('filer_snapshots_total')}[$window])`)}))`),
        legend: '{{volume}}',
      },
    ],
    steps: plain,
    width: 8,
    drill: [drillDown('snapshots', 'volume')],
  }),
  chart({
    title: 'Time to protect',
    description:
      'How long data had waited for its snapshot in the mean of each, in the last hour. When it rises, snapshots are too rare or too slow.',
    queries: quantiles((share) => quantileOfHour(share, 'filer_snapshot_time_to_protect_seconds')),
    steps: limits.timeToProtect,
    width: 8,
  }),
  chart({
    title: 'Length of the phases, p90',
    description:
      'Nine of ten snapshots of the last hour took no longer: data goes up in parallel, metadata one appliance after the other under the lock. Long metadata delays all appliances.',
    queries: [
      {
        expr: quantileOfHour(0.9, 'filer_snapshot_phase_duration_seconds', { by: ['phase'] }),
        legend: '{{phase}}',
      },
    ],
    steps: limits.lockHeld,
    width: 8,
  }),
  chart({
    title: 'Propagation of snapshots',
    description:
      'How long snapshots of the last hour were on their way to other appliances. When all quantiles rise, look at the cloud side; when p99 alone does, at the table below.',
    queries: quantiles((share) => quantileOfHour(share, 'filer_snapshot_propagation_seconds')),
    steps: limits.propagation,
    width: 8,
  }),
  chart({
    title: 'Files in snapshots',
    description:
      'Files in the snapshots of the event window, under global locking and under none. A jump is a restore, a migration, or an encryption trojan: ask who did it.',
    queries: [
      {
        expr: `round(sum by (locking) (${once(`increase(${select('filer_snapshot_files_total')}[$window])`)}))`,
        legend: '{{locking}}',
      },
    ],
    steps: plain,
    width: 8,
    stacked: true,
  }),
  chart({
    title: 'Failed metadata snapshots',
    description:
      'Metadata snapshots that failed in the event window, by the ten appliances with most. An appliance that fails again and again needs a look at its notifications and its credentials.',
    queries: [
      {
        expr: worst(
          10,
          `round(sum by (filer) (${once(`increase(${select('filer_snapshot_metadata_failures_total')}[$window])`)}))`,
        ),
        legend: '{{filer}}',
      },
    ],
    steps: noneExpected,
    width: 8,
    drill: [drillDown('appliance', 'filer')],
  }),
];

/** The newest snapshot of each volume and appliance. */
export const newestPanels = [
  table({
    title: 'Newest snapshots',
    description:
      'The newest snapshot of volumes by appliances, the fifty oldest: age, number and size, and how old its oldest data was. Begin with the oldest.',
    queries: [
      { expr: ofOldest(ended), legend: 'Ended' },
      { expr: ofOldest(pair('filer_snapshot_latest_version')), legend: 'Number' },
      {
        expr: ofOldest(`sum by (filer, volume) (${once(select('filer_snapshot_latest_files'))})`),
        legend: 'Files',
      },
      { expr: ofOldest(pair('filer_snapshot_latest_directories')), legend: 'Directories' },
      {
        expr: ofOldest(pair('filer_snapshot_latest_oldest_unprotected_data_age_seconds')),
        legend: 'Oldest data',
      },
    ],
    columns: [
      { label: 'volume', title: 'Volume', link: drillDown('snapshots', 'volume', `$\{__value.text}`) },
      { label: 'filer', title: 'Appliance', link: drillDown('appliance', 'filer', `$\{__value.text}`) },
    ],
    steps: plain,
    width: 24,
  }),
  chart({
    title: 'Time to protect of the newest snapshot',
    description:
      'Mean and longest wait of its data, the worst volumes. A longest far above the mean is a few large files.',
    queries: [
      {
        expr: worst(10, `max by (volume, statistic) (${select('filer_snapshot_latest_time_to_protect_seconds')})`),
        legend: '{{volume}} {{statistic}}',
      },
    ],
    steps: limits.timeToProtect,
    width: 12,
    drill: [drillDown('snapshots', 'volume')],
  }),
  chart({
    title: 'Phases of the newest snapshot',
    description:
      'How long the newest snapshot took on each volume, by phase, longest appliance. Compare with the past of the same volume.',
    queries: [
      {
        expr: worst(10, `max by (volume, phase) (${select('filer_snapshot_latest_phase_duration_seconds')})`),
        legend: '{{volume}} {{phase}}',
      },
    ],
    steps: limits.lockHeld,
    width: 12,
    drill: [drillDown('snapshots', 'volume')],
  }),
  table({
    title: 'Newest snapshot to arrive',
    description:
      'How long the newest snapshot was on its way to each appliance, and how that compares with the mean of all. Large deviations at one appliance are its line.',
    queries: [
      { expr: ofSlowest(onItsWay), legend: 'On its way' },
      {
        expr: ofSlowest(pair('filer_snapshot_latest_propagation_deviation_seconds')),
        legend: 'Over the mean',
      },
    ],
    columns: [
      { label: 'volume', title: 'Volume', link: drillDown('snapshots', 'volume', `$\{__value.text}`) },
      { label: 'filer', title: 'Appliance', link: drillDown('appliance', 'filer', `$\{__value.text}`) },
    ],
    steps: limits.propagation,
    width: 12,
  }),
  table({
    title: 'Last failed metadata snapshots',
    description:
      'When a metadata snapshot last failed, for those that ever did. A recent one with no newer snapshot above is not corrected yet.',
    queries: [
      {
        expr: `bottomk(50, time() - ${pair('filer_snapshot_latest_metadata_failure_timestamp_seconds')})`,
        legend: 'Failed',
      },
    ],
    columns: [
      { label: 'volume', title: 'Volume', link: drillDown('snapshots', 'volume', `$\{__value.text}`) },
      { label: 'filer', title: 'Appliance', link: drillDown('appliance', 'filer', `$\{__value.text}`) },
    ],
    steps: plain,
    width: 12,
    empty: 'no failure known',
  }),
];
