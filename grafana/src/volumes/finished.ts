import { chart } from '../charts.ts';
import { meanOfHour, once, quantileOfHour, quantiles } from '../common.ts';
import { limits } from '../limits.ts';
import { drillDown } from '../places.ts';
import { select } from '../select.ts';
import { whilePolled } from '../service.ts';
import { noneExpected } from '../steps.ts';
import { worst } from '../worst.ts';

/** Shows the snapshots that appliances finished: how many, how long and how large they were. */
export const finishedPanels = [
  chart({
    title: 'Snapshots finished, busiest volumes',
    ofAll: true,
    description:
      'Snapshots finished in the event window, by volume. A volume at zero while people work is not protected: see the lock and the state above.',
    queries: {
      expr: worst(
        10,
        `round(sum by (volume) (${once(whilePolled('portal', `increase(${select('filer_snapshots_total')}[$window])`))}))`,
      ),
      legend: '{{volume}}',
    },
    width: 8,
    drill: [drillDown('volumes', 'volume')],
  }),
  chart({
    title: 'Time to protect',
    ofAll: true,
    times: 'min',
    description:
      'The mean time for which data waited for its snapshot, in the last hour. If it rises, snapshots are too rare or too slow.',
    queries: quantiles((share) => quantileOfHour('portal', share, 'filer_snapshot_time_to_protect_seconds')),
    steps: limits.timeToProtect,
    width: 8,
  }),
  chart({
    title: 'Length of the phases',
    ofAll: true,
    times: 'min',
    description:
      'The mean duration of the phases of snapshots in the last hour. Appliances upload data at the same time, and metadata one after the other under the lock, so a long metadata phase delays all of them.',
    queries: { expr: meanOfHour('filer_snapshot_phase_duration_seconds', 'phase'), legend: '{{phase}}' },
    steps: limits.lockHeld,
    width: 8,
  }),
  chart({
    title: 'Propagation of snapshots',
    ofAll: true,
    times: 'min',
    description:
      'The mean time until snapshots of the last hour reached other appliances, by volume. If it rises for all volumes, check the cloud. If it rises for one, see the table below.',
    queries: { expr: worst(10, meanOfHour('filer_snapshot_propagation_seconds', 'volume')), legend: '{{volume}}' },
    steps: limits.propagation,
    width: 8,
  }),
  chart({
    title: 'Files in snapshots',
    ofAll: true,
    description:
      'Files in the snapshots of the event window, under global locking and under none. A sudden rise is a restore, a migration or an encryption trojan: find out which.',
    queries: {
      expr: `round(sum by (locking) (${once(whilePolled('portal', `increase(${select('filer_snapshot_files_total')}[$window])`))}))`,
      legend: '{{locking}}',
    },
    width: 8,
    stacked: true,
  }),
  chart({
    title: 'Failed metadata snapshots',
    ofAll: true,
    description:
      'Metadata snapshots that failed in the event window, by the ten appliances with most. If an appliance fails repeatedly, check its notifications and its credentials.',
    queries: {
      expr: worst(
        10,
        `round(sum by (filer) (${once(whilePolled('portal', `increase(${select('filer_snapshot_metadata_failures_total')}[$window])`))}))`,
      ),
      legend: '{{filer}}',
    },
    steps: noneExpected,
    width: 8,
    drill: [drillDown('appliance', 'filer')],
  }),
  chart({
    title: 'Versions behind, worst appliances',
    ofAll: true,
    description:
      'Snapshots of a volume that have not reached an appliance: users there see old files. More than 5 for more than an hour raise FilerSyncBehind.',
    queries: {
      expr: worst(
        10,
        `max by (job, volume_guid) (${select('filer_snapshot_latest_version')}) - on (job, volume_guid) group_right () max by (job, volume_guid, volume, filer) (${select('filer_snapshot_reached_version')})`,
      ),
      legend: '{{filer}} {{volume}}',
    },
    steps: limits.snapshotsBehind,
    width: 12,
  }),
  chart({
    title: 'Behind for, worst appliances',
    ofAll: true,
    times: 'min',
    description:
      'Time since the newest snapshot of a volume reached an appliance that lacks newer ones. An appliance with every snapshot is not shown.',
    queries: {
      expr: worst(
        10,
        `(time() - max by (job, volume_guid, volume, filer) (${select('filer_snapshot_reached_timestamp_seconds')})) and on (job, volume_guid, filer) (max by (job, volume_guid, volume, filer) (${select('filer_snapshot_reached_version')}) < on (job, volume_guid) group_left () max by (job, volume_guid) (${select('filer_snapshot_latest_version')}))`,
      ),
      legend: '{{filer}} {{volume}}',
    },
    steps: limits.behindFor,
    width: 12,
  }),
];
