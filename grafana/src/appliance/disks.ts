import { chart } from '../charts.ts';
import { limits } from '../limits.ts';
import { select } from '../select.ts';

const by = (labels: string, gauge: string) => `max by (${labels}) (${select(gauge)})`;

/** Disks by kind. */
export const diskPanels = [
  chart({
    title: 'Disk operations',
    description:
      'Operations per second, by disk and direction: the disk cache holds data, cow snapshots, file_iq the index, os the system. Compare with what the storage can do.',
    queries: {
      expr: by('filer, disk, direction', 'filer_appliance_disk_iops'),
      legend: '{{disk}} {{direction}}',
    },
    width: 12,
  }),
  chart({
    title: 'Disk latency',
    description:
      'Mean time of one operation; the pale line is the slowest disk a week before. Users notice more than 20 ms. Above 50 ms, look for other machines on the same storage, or move the disk to faster storage.',
    queries: [
      {
        expr: by('filer, disk, direction', 'filer_appliance_disk_io_latency_seconds'),
        legend: '{{disk}} {{direction}}',
      },
      {
        expr: `max by (filer) (${select('filer_appliance_disk_io_latency_seconds')} offset 7d)`,
        legend: 'a week before',
      },
    ],
    steps: limits.diskLatency,
    width: 12,
  }),
];

/** The network and the users on it. */
export const networkPanels = [
  chart({
    title: 'Network',
    description:
      'Bytes per second from and to clients, and from and to the cloud. While a snapshot is uploaded, the traffic to the cloud may use the whole connection. If that lasts for hours, check the bandwidth limits of the appliance.',
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
    times: 'min',
    description:
      'Age of the newest record of each series. The portal is 5 to 6 minutes behind the appliance. If a single series gets older, the portal has no new records of it. If all series do, the appliance does not report.',
    queries: {
      expr: `time() - max by (filer, series) (${select('filer_appliance_series_timestamp_seconds')})`,
      legend: '{{series}}',
    },
    steps: limits.telemetryAge,
    width: 24,
  }),
];
