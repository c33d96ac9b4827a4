import { chart, timeline } from '../charts.ts';
import { limits } from '../limits.ts';
import { words } from '../mappings.ts';
import { LABELS_ALONE, number, table } from '../numbers.ts';
import { drillDown } from '../places.ts';
import { select } from '../select.ts';
import { noneAllowed, noneExpected, plain } from '../steps.ts';

const unprotected = select('filer_volume_unprotected_bytes');
const status = (matcher: string) =>
  `max by (filer, volume) (${select('filer_volume_snapshot_status', { status: matcher })} == 1)`;

/** The words of a snapshot's status as few numbers. */
const states = [
  `0 * ${status('=~"idle|succeeded|up_to_date"')}`,
  status('=~"pending|in_progress"'),
  `2 * ${status('="failed"')}`,
  `3 * ${status('=~"cancelling|cancelled|cancel_rejected|other"')}`,
].join(' or ');

/** What is not yet in cloud storage, from one request for the whole account. */
export const protectionPanels = [
  number({
    title: 'Unprotected data',
    description:
      'Data of all volumes and appliances that is not yet in cloud storage: what would be lost with them. When it grows for a day, look below for the volume.',
    queries: [{ expr: `sum(max by (serial, volume_guid) (${unprotected}))`, legend: 'all' }],
    steps: plain,
    width: 6,
    empty: 'not reported',
  }),
  number({
    title: 'Snapshots failing',
    description:
      'Volumes on appliances whose snapshot failed. Each is a place where nothing new is protected: see its notifications, its credentials and its line.',
    queries: [
      {
        expr: `sum(max by (serial, volume_guid) (${select('filer_volume_snapshot_status', { status: '="failed"' })}))`,
        legend: 'failed',
      },
    ],
    steps: noneAllowed,
    width: 6,
  }),
  number({
    title: 'Oldest snapshot',
    description:
      'The connection whose last snapshot is longest ago. Above a day on a volume in daily use, its changes are on one appliance alone.',
    queries: [
      {
        expr: `topk(1, time() - max by (filer, volume) (${select('filer_volume_last_snapshot_timestamp_seconds')}))`,
        legend: '{{volume}} on {{filer}}',
      },
    ],
    steps: limits.snapshotAge,
    width: 6,
    drill: [drillDown('appliance', 'filer')],
  }),
  number({
    title: 'Failed metadata snapshots',
    description:
      'Metadata snapshots that failed in the time shown. Single ones are tried again; many on one appliance need a look at its notifications.',
    queries: [
      {
        expr: `round(sum(increase(${select('filer_snapshot_metadata_failures_total')}[$__range])))`,
        legend: 'failures',
      },
    ],
    steps: noneExpected,
    width: 6,
    empty: 'not polled',
  }),
  chart({
    title: 'Unprotected data by volume',
    description:
      'Data that is not yet in cloud storage. It falls with each snapshot; a volume that only climbs has snapshots that fail or never come.',
    queries: [
      { expr: `sum by (volume) (max by (serial, volume_guid, volume) (${unprotected}))`, legend: '{{volume}}' },
    ],
    steps: plain,
    width: 12,
    stacked: true,
    drill: [drillDown('snapshots', 'volume')],
  }),
  chart({
    title: 'Unprotected data, the worst appliances',
    description:
      'The ten appliances with most of it. One that stands out: see its line to the cloud and the limits of its bandwidth.',
    queries: [
      { expr: `topk(10, sum by (filer) (max by (serial, filer, volume_guid) (${unprotected})))`, legend: '{{filer}}' },
    ],
    steps: plain,
    width: 12,
    drill: [drillDown('appliance', 'filer')],
  }),
  timeline(
    {
      title: 'Snapshot state',
      description:
        'What the snapshots of each volume on each appliance do. Red that stays is a volume that is not protected: see its notifications; yellow for hours is a very large change or a slow line.',
      queries: [{ expr: states, legend: '{{volume}} on {{filer}}' }],
      steps: plain,
      width: 24,
      drill: [drillDown('appliance', 'filer')],
    },
    words([0, 'done', 'green'], [1, 'under way', 'blue'], [2, 'failed', 'red'], [3, 'cancelled or other', 'yellow']),
  ),
  table({
    title: 'Volumes on appliances',
    description:
      'Unprotected data, all data, and the age of the last snapshot, for each connection. Sort by a column to find the worst; begin with much data and an old snapshot.',
    queries: [
      { expr: `max by (filer, volume) (${unprotected})`, legend: 'Unprotected' },
      { expr: `max by (filer, volume) (${select('filer_volume_accessible_bytes')})`, legend: 'Accessible' },
      {
        expr: `time() - max by (filer, volume) (${select('filer_volume_last_snapshot_timestamp_seconds')})`,
        legend: 'Last snapshot',
      },
    ],
    columns: [
      { label: 'volume', title: 'Volume', link: drillDown('snapshots', 'volume', `$\{__value.text}`) },
      { label: 'filer', title: 'Appliance', link: drillDown('appliance', 'filer', `$\{__value.text}`) },
    ],
    steps: plain,
    width: 24,
    height: 9,
  }),
];

/** How appliances are connected to volumes. */
export const connectionPanels = [
  table({
    title: 'Connections',
    description:
      'How each appliance is connected to each volume, and where the volume is kept. Policies that differ between appliances of one volume are worth a question.',
    queries: [
      {
        expr: `max by (volume, filer, role, cloud_provider, cloud_region, protocols, security_mode, permission_policy, connection_permission) (${select('filer_volume_connection_info')})`,
        legend: LABELS_ALONE,
      },
    ],
    columns: [
      { label: 'volume', title: 'Volume', link: drillDown('snapshots', 'volume', `$\{__value.text}`) },
      { label: 'filer', title: 'Appliance', link: drillDown('appliance', 'filer', `$\{__value.text}`) },
      { label: 'role', title: 'Role' },
      { label: 'cloud_provider', title: 'Cloud' },
      { label: 'cloud_region', title: 'Region' },
      { label: 'protocols', title: 'Protocols' },
      { label: 'security_mode', title: 'Security' },
      { label: 'permission_policy', title: 'Permissions' },
      { label: 'connection_permission', title: 'Connection' },
    ],
    steps: plain,
    width: 24,
  }),
  chart({
    title: 'Accessible data by volume',
    description:
      'Data that can be reached through the appliances, the most that one of them says. A sudden fall is a deletion: restore from a snapshot before it ages out.',
    queries: [{ expr: `max by (volume) (${select('filer_volume_accessible_bytes')})`, legend: '{{volume}}' }],
    steps: plain,
    width: 8,
    drill: [drillDown('snapshots', 'volume')],
  }),
  chart({
    title: 'Shares, exports and directories',
    description:
      'What appliances offer volumes as, by protocol. A fall without a change of yours means that users have lost a drive: see the jobs of the account.',
    queries: [{ expr: `sum by (protocol) (${select('filer_volume_shares')})`, legend: '{{protocol}}' }],
    steps: plain,
    width: 6,
  }),
  chart({
    title: 'Folders kept in the cache',
    description:
      'Folders that are pinned, or brought in by themselves. Many pinned ones leave little of the cache for what users work on: compare with the hit ratio.',
    queries: [{ expr: `sum by (setting) (${select('filer_volume_cached_folders')})`, legend: '{{setting}}' }],
    steps: plain,
    width: 6,
  }),
  number({
    title: 'Read-only connections',
    description:
      'Connections through which the appliance may only read. When users cannot save, see whether theirs is one of them.',
    queries: [{ expr: `sum(max by (serial, volume_guid) (${select('filer_volume_read_only')}))`, legend: 'read-only' }],
    steps: plain,
    width: 4,
    height: 8,
  }),
];
