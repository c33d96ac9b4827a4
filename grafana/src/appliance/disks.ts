import { chart } from '../charts.ts';
import { limits } from '../limits.ts';
import { select } from '../select.ts';

const by = (labels: string, gauge: string) => `max by (${labels}) (${select(gauge)})`;

/** Disks by kind. */
export const diskPanels = [
  chart({
    title: 'Disk operations',
    description:
      'Operations per second, by disk and direction: cache holds the data, cow its snapshots, file_iq the index, os the system. Compare with what the storage underneath can do.',
    queries: {
      expr: by('filer, disk, direction', 'filer_appliance_disk_iops'),
      legend: '{{disk}} {{direction}}',
    },
    width: 12,
  }),
  chart({
    title: 'Disk latency',
    description:
      'Mean time of one operation. Above 20 ms users notice, above 100 ms they complain: look for other machines on the same storage, or move the disk to faster storage.',
    queries: {
      expr: by('filer, disk, direction', 'filer_appliance_disk_io_latency_seconds'),
      legend: '{{disk}} {{direction}}',
    },
    steps: limits.diskLatency,
    width: 12,
  }),
];

/** The network and the users on it. */
export const networkPanels = [
  chart({
    title: 'Network',
    description:
      'Bytes per second as the appliance sees them: clients in and out, cloud in and out. Cloud out at the ceiling of the line is a snapshot under way; for hours, protection falls behind. See its limits of bandwidth.',
    queries: {
      expr: by('filer, peer, direction', 'filer_appliance_network_bytes_per_second'),
      legend: '{{peer}} {{direction}}',
    },
    width: 12,
  }),
  chart({
    title: 'SMB sessions',
    description:
      'Active sessions. A fall to zero in office hours is an outage for users: check shares and directory service.',
    queries: { expr: by('filer', 'filer_appliance_smb_connections'), legend: '{{filer}}' },
    width: 12,
  }),
];

/** Shows how old the data of the appliance is. */
export const agePanels = [
  chart({
    title: 'Age of the telemetry',
    description:
      'Age of the newest record of each series. The portal is 5 to 6 minutes behind and is polled every few; a single series that climbs is one that the portal has no more of, all of them an appliance that does not report.',
    queries: {
      expr: `time() - max by (filer, series) (${select('filer_appliance_series_timestamp_seconds')})`,
      legend: '{{series}}',
    },
    steps: limits.telemetryAge,
    width: 24,
  }),
];
