import { alertTable } from '../alerts/table.ts';
import { chart } from '../charts.ts';
import { checkIns, dataWaits, standing } from '../common.ts';
import { limits } from '../limits.ts';
import { standingWords } from '../mappings.ts';
import { number, table, words } from '../numbers.ts';
import { more } from '../places.ts';
import { select } from '../select.ts';
import { worst } from '../worst.ts';

/** Returns the last value that was known of an appliance, because the series of an appliance that is off are removed. */
const known = (gauge: string) => `max by (filer) (last_over_time(${select(gauge)}[2d]))`;
const lastRecord = `max by (filer) (max_over_time(${select('filer_appliance_last_record_timestamp_seconds')}[2d]))`;

/** Shows the last values of the appliance, also after it is off. */
export const lastKnownPanel = table({
  title: 'Last known',
  description:
    'The newest values of the appliance within two days, and how old they are. After it was switched off, they show its last state.',
  queries: [
    { expr: `time() - ${lastRecord}`, legend: 'Age' },
    { expr: known('filer_appliance_cpu_utilization_ratio'), legend: 'Processors' },
    { expr: known('filer_appliance_memory_utilization_ratio'), legend: 'Memory' },
    { expr: known('filer_appliance_cache_utilization_ratio'), legend: 'Cache' },
    { expr: known('filer_appliance_disk_io_latency_seconds'), legend: 'Disk latency' },
    { expr: known('filer_appliance_smb_connections'), legend: 'SMB sessions' },
  ],
  columns: [{ label: 'filer', title: 'Appliance' }],
  stepsBy: {
    Age: limits.telemetryAge,
    Processors: limits.cpu,
    Memory: limits.memory,
    Cache: limits.cache,
    'Disk latency': limits.diskLatency,
  },
  valueWidth: 140,
  width: 24,
  height: 3,
});

/** Shows which appliance it is, and its state. */
export const identityPanels = [
  number(
    {
      title: 'Telemetry',
      description:
        'Whether the portal has telemetry of the appliance. No records: it is off or disconnected. Cannot be polled: the status page of the exporter has the reason.',
      queries: { expr: standing('filer'), legend: '{{filer}}' },
      width: 4,
    },
    standingWords,
  ),
  number({
    title: 'Last record',
    description:
      'Age of the newest telemetry of the appliance. The portal is 5 to 6 minutes behind. If the age grows, the appliance does not report.',
    queries: {
      expr: `time() - ${lastRecord}`,
      legend: '{{filer}}',
    },
    steps: limits.telemetryAge,
    width: 4,
  }),
  number({
    title: 'Check-in',
    description:
      'Time since the filer last checked in with file acceleration. If it is above 5 minutes and telemetry arrives, check the acceleration service on the appliance.',
    queries: { expr: checkIns('filer'), legend: '{{filer}}' },
    steps: limits.checkIn,
    width: 4,
    links: [more('volumes')],
  }),
  number({
    title: 'Last seen',
    description:
      'Time since the last contact of the appliance with the portal. If it grows, the appliance is off or disconnected.',
    queries: {
      expr: `time() - max by (filer) (${select('filer_appliance_last_seen_timestamp_seconds')})`,
      legend: '{{filer}}',
    },
    width: 4,
  }),
  number({
    title: 'Unprotected',
    description:
      'Age of the oldest data of this filer that is not yet in cloud storage. If it grows, see the locks of its volumes on the dashboard Filers and volumes.',
    queries: {
      expr: `max by (filer) (${dataWaits})`,
      legend: '{{filer}}',
    },
    steps: limits.unprotected,
    width: 4,
  }),
  number({
    title: 'Health score',
    description:
      'The health score of the appliance from the portal, 0 to 100. Below 80, open its health page there: it names the checks that fail. It is empty if the series is not polled, or if the portal sends a word instead of a number.',
    queries: { expr: `min by (filer) (${select('filer_appliance_health_score')})`, legend: '{{filer}}' },
    steps: limits.healthScore,
    width: 4,
  }),
  alertTable({
    title: 'What is broken on it',
    about: {},
    scope: { filer: 'alone', volume: 'with account' },
    height: 7,
  }),
  chart({
    title: 'Unprotected data',
    description:
      'Data on the appliance that is not yet in cloud storage, by volume. It falls with each snapshot. If it only grows, see the snapshots of that volume.',
    queries: {
      expr: worst(10, `max by (volume) (${select('filer_volume_unprotected_bytes')})`),
      legend: '{{volume}}',
    },
    steps: limits.unprotectedBytes,
    width: 8,
    links: [more('volumes')],
  }),
];

/** Shows type, build and machine of the appliance. */
export const kindPanels = [
  number({
    title: 'Running for',
    description:
      'Time since the appliance started. If nobody planned the restart, the appliance crashed or lost power: see its notifications.',
    queries: { expr: `min by (filer) (${select('filer_appliance_uptime_seconds')})`, legend: '{{filer}}' },
    width: 6,
  }),
  number({
    title: 'Configuration backup',
    description:
      'Time since the last backup of the appliance’s configuration, as the portal reports it. A replacement starts with that configuration. If the backup is weeks old, find out why backups have stopped.',
    queries: {
      expr: `time() - max by (filer) (${select('filer_appliance_config_backup_timestamp_seconds')})`,
      legend: '{{filer}}',
    },
    width: 6,
    empty: 'not reported',
  }),
  words({
    title: 'Place',
    description:
      'Where the appliance is, as the portal describes it. If all appliances of a place fail together, check its power and its network.',
    queries: {
      expr: `max by (filer, location) (${select('filer_appliance_location_info')})`,
      legend: '{{location}}',
    },
    width: 6,
    empty: 'not described',
  }),
  number({
    title: 'Volumes',
    description:
      'Volumes that the appliance owns, and volumes of other appliances that it is connected to. Before you remove an owner, give its volumes another one.',
    queries: { expr: `max by (filer, role) (${select('filer_appliance_volumes')})`, legend: '{{role}}' },
    width: 6,
  }),
  table({
    title: 'What it is',
    description: 'Type, build and processor cores of the appliance, and the available build. Plan the update.',
    queries: {
      expr: `topk(10, max by (filer, serial) (${select('filer_appliance_cpu_cores')}) * on (filer, serial) group_right () max by (filer, serial, type, build, available_build) (${select('filer_appliance_info')}))`,
      legend: 'Cores',
    },
    columns: [
      { label: 'filer', title: 'Name' },
      { label: 'serial', title: 'Serial' },
      { label: 'type', title: 'Kind' },
      { label: 'build', title: 'Build' },
      { label: 'available_build', title: 'Update' },
    ],
    width: 24,
    height: 5,
  }),
];
