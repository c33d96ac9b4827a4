import { chart, timeline } from '../charts.ts';
import { failingSnapshots, once } from '../common.ts';
import { limits } from '../limits.ts';
import { words } from '../mappings.ts';
import { number, table } from '../numbers.ts';
import { drillDown } from '../places.ts';
import { select } from '../select.ts';
import { whilePolled } from '../service.ts';
import { countOver, noneAllowed, noneExpected } from '../steps.ts';
import { worst } from '../worst.ts';

const unprotected = select('filer_volume_unprotected_bytes');

/** The status of each snapshot as a number; the highest number is the worst. */
const states = `max by (filer, volume) (${select('volume_filer:filer_volume_snapshot_status:rank')})`;
const lastSnapshot = `time() - max by (filer, volume) (${select('filer_volume_last_snapshot_timestamp_seconds')})`;
const stateWords = words([0, 'done'], [1, 'under way'], [2, 'cancelled or other'], [3, 'failed']);

const failedMetadata = `max by (filer, volume) (increase(${select('filer_snapshot_metadata_failures_total')}[1h]))`;
/** The state; a connection also fails if its metadata failed repeatedly, as in the alert. */
const stateNow = `(0 * (${failedMetadata} > ${limits.failedSnapshotsAnHour}) + 3 or ${states})`;

/** The worst connections: those with failing snapshots first, then those with the oldest snapshot. */
const worstConnections = `topk(20, max by (filer, volume) (label_replace(1e9 * (${stateNow} == 3), "rank", "1", "", "") or label_replace(${lastSnapshot}, "rank", "2", "", "")))`;
const ofWorst = (query: string) => `(${query}) and on (filer, volume) ${worstConnections}`;

/** Shows the data that is not yet in cloud storage, which one request returns for the whole account. */
export const snapshotPanels = [
  number({
    title: 'Unprotected data',
    description:
      'Data of all volumes and appliances that is not yet in cloud storage: what would be lost with them. If it grows for a day, find the volume below.',
    queries: { expr: `sum(max by (serial, volume_guid) (${unprotected}))`, legend: 'all' },
    width: 6,
  }),
  number({
    title: 'Snapshots failing',
    description:
      'Volumes on appliances whose current snapshot has failed, or whose metadata failed repeatedly in the last hour, as in the alert FilerSnapshotFailing. No new data is protected there: check notifications, credentials and the connection.',
    queries: { expr: failingSnapshots, legend: 'failing' },
    steps: noneAllowed,
    width: 6,
  }),
  number({
    title: 'Oldest snapshot',
    description:
      'The oldest last snapshot of a volume on an appliance. If it is older than a day on a volume in daily use, the changes are on one appliance only.',
    queries: {
      expr: `topk(1, time() - max by (filer, volume) (${select('filer_volume_last_snapshot_timestamp_seconds')}))`,
      legend: '{{filer}} {{volume}}',
    },
    steps: limits.snapshotAge,
    width: 6,
    drill: [drillDown('appliance', 'filer')],
  }),
  number({
    title: 'Failed metadata',
    description:
      'Failed metadata snapshots. A single one is repeated. If many fail on one appliance, check its notifications.',
    queries: {
      expr: `round(sum(${once(whilePolled('portal', `increase(${select('filer_snapshot_metadata_failures_total')}[$__range])`))}))`,
      legend: 'failures',
    },
    steps: noneExpected,
    width: 6,
  }),
  table({
    title: 'Volumes on appliances, the worst first',
    description:
      'The twenty worst connections: those whose current snapshot has failed or whose metadata failed repeatedly in the last hour, then those with the oldest snapshot. Begin at the top: much unprotected data with an old snapshot is on one appliance only.',
    queries: [
      { expr: ofWorst(lastSnapshot), legend: 'Last snapshot' },
      { expr: ofWorst(stateNow), legend: 'State' },
      { expr: ofWorst(failedMetadata), legend: 'Failed metadata' },
      { expr: ofWorst(`max by (filer, volume) (${unprotected})`), legend: 'Unprotected' },
      { expr: ofWorst(`max by (filer, volume) (${select('filer_volume_accessible_bytes')})`), legend: 'Accessible' },
    ],
    columns: [
      { label: 'volume', title: 'Volume', link: drillDown('volumes', 'volume', `$\{__value.text}`) },
      { label: 'filer', title: 'Appliance', link: drillDown('appliance', 'filer', `$\{__value.text}`) },
    ],
    stepsBy: {
      'Failed metadata': countOver(limits.failedSnapshotsAnHour),
      'Last snapshot': limits.snapshotAge,
      Unprotected: limits.unprotectedBytes,
    },
    mappingsBy: { State: stateWords },
    valueWidth: 140,
    width: 24,
    height: 8,
    sortedBy: [
      ['State', 'down'],
      ['Last snapshot', 'down'],
    ],
  }),
  chart({
    title: 'Unprotected data, the worst volumes',
    ofAll: true,
    description:
      'Data that is not yet in cloud storage. It falls with each snapshot. If it only grows, the snapshots of the volume fail or are not scheduled.',
    queries: {
      expr: worst(10, `sum by (volume) (max by (serial, volume_guid, volume) (${unprotected}))`),
      legend: '{{volume}}',
    },
    width: 12,
    stacked: true,
    drill: [drillDown('volumes', 'volume')],
  }),
  chart({
    title: 'Unprotected data, the worst appliances',
    ofAll: true,
    description:
      'The ten appliances with the most unprotected data. If one has much more than the others, check its connection to the cloud and its bandwidth limits.',
    queries: {
      expr: worst(10, `sum by (filer) (max by (serial, filer, volume_guid) (${unprotected}))`),
      legend: '{{filer}}',
    },
    width: 12,
    drill: [drillDown('appliance', 'filer')],
  }),
  timeline(
    {
      title: 'Snapshot state',
      description:
        'The state of snapshots of twenty volumes on appliances, failing ones first. If one stays red, its data is not protected: see its notifications. If one is yellow for hours, it has a very large change or a slow connection.',
      queries: { expr: states, legend: '{{filer}} {{volume}}' },
      width: 24,
      drill: [drillDown('appliance', 'filer')],
    },
    stateWords,
  ),
];
