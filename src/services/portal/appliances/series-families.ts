import type { Family, Labels, RemainingFields } from '../../../metrics/family.ts';
import {
  bytesPerSecond,
  enumInfo,
  epochMilliseconds,
  infoOne,
  milliseconds,
  percent,
  seconds,
  unitless,
} from '../../../metrics/units.ts';
import { latency, memory, requests } from './units.ts';

export const applianceLabels = ['serial', 'filer'] as const;

const READ = { direction: 'read' } as const;
const WRITE = { direction: 'write' } as const;

/** The three series of a disk. The field names of the operations begin with `prefix`, which the portal spells differently for the cache. */
function disk(name: string, prefix: string) {
  const of = (labels: Labels) => ({ disk: name, ...labels });
  return {
    iops: [
      {
        name: 'filer_appliance_disk_iops',
        help: 'Disk operations per second, by disk and direction.',
        from: unitless,
        fields: { [`${prefix}_io_reads`]: of(READ), [`${prefix}_io_writes`]: of(WRITE) },
      },
    ],
    ioTime: [
      {
        name: 'filer_appliance_disk_io_time_seconds',
        help: 'I/O time of the disk in the newest bin, over an interval that the portal does not document.',
        from: milliseconds,
        fields: { io_time: of({}) },
      },
      {
        name: 'filer_appliance_disk_weighted_io_time_seconds',
        help: 'I/O time of the disk weighted by waiting requests, which is far above the plain I/O time while the disk is saturated.',
        from: milliseconds,
        fields: { weighted_io_time: of({}) },
      },
    ],
    ioLatency: [
      {
        name: 'filer_appliance_disk_io_latency_seconds',
        help: 'Mean time of one disk operation, by disk and direction.',
        from: latency,
        fields: { read_latency: of(READ), write_latency: of(WRITE) },
      },
    ],
  } as const satisfies Record<string, readonly Family[]>;
}

const cache = disk('cache', 'cache');
const cow = disk('cow', 'cow_disk');
const fileIq = disk('file_iq', 'file_iq_disk');
const os = disk('os', 'os_disk');

const cpuCores = {
  name: 'filer_appliance_cpu_cores',
  help: 'Processor cores of the appliance, for comparison with its load.',
  from: unitless,
  fields: { num_cores: {} },
} as const satisfies Family;

/** Two series have this family, each with another field name. */
const cpuUtilization = {
  name: 'filer_appliance_cpu_utilization_ratio',
  help: 'Share of the processors in use, 0 to 1.',
  from: percent,
} as const;

const loadAverage = {
  name: 'filer_appliance_load_average',
  help: 'Mean number of processes running or waiting, by window.',
  from: unitless,
} as const;

/** The label `window` for a field of `load_average`. The field names are not documented, so several spellings are read; another name is used unchanged. */
export function loadWindow(field: string): string {
  if (/15|fifteen|longterm/i.test(field)) return '15m';
  if (/5|five|midterm/i.test(field)) return '5m';
  if (/1|one|shortterm/i.test(field)) return '1m';
  return field;
}

const everyLoadField: RemainingFields = { label: 'window', value: loadWindow, except: ['time'] };

/** The 15 series of the portal's published list, by the path segment of the operation. A new metric is added here only. */
export const standardSeries = {
  load_average: [{ ...loadAverage, fields: everyLoadField }, cpuCores],
  cpu_utilization: [{ ...cpuUtilization, fields: { cpu_usage: {} } }],
  memory_utilization: [
    {
      name: 'filer_appliance_memory_bytes',
      help: 'Memory by use, of appliances before build 10.0.4.',
      from: memory,
      fields: {
        memory_used: { state: 'used' },
        memory_cached: { state: 'cached' },
        memory_buffered: { state: 'buffered' },
      },
    },
  ],
  memory_utilization_details: [
    {
      name: 'filer_appliance_memory_detail_bytes',
      help: 'Memory by overlapping states, of appliances from build 10.0.4.',
      from: memory,
      fields: {
        available: { state: 'available' },
        shared: { state: 'shared' },
        buf_rec: { state: 'reclaimable' },
        free: { state: 'free' },
        used: { state: 'used' },
      },
    },
    {
      name: 'filer_appliance_memory_total_bytes',
      help: 'Memory of an appliance from build 10.0.4.',
      from: memory,
      fields: { total: {} },
    },
    {
      name: 'filer_appliance_memory_utilization_ratio',
      help: 'Share of the memory that is not available, 0 to 1, of appliances from build 10.0.4.',
      from: percent,
      fields: { utilization: {} },
    },
  ],
  cache_utilization: [
    {
      name: 'filer_appliance_cache_utilization_ratio',
      help: 'Share of the cache disk in use, 0 to 1.',
      from: percent,
      fields: { cache_utilization: {} },
    },
  ],
  cache_hits_misses: [
    {
      name: 'filer_appliance_cache_requests',
      help: 'Cache requests in the newest bin, by result: hit is read from the cache disk, miss is fetched from the cloud.',
      from: requests,
      fields: { cache_reads: { result: 'hit' }, cache_misses: { result: 'miss' } },
    },
  ],
  cache_disk_iops: cache.iops,
  cache_disk_io_time: cache.ioTime,
  cache_disk_io_latency: cache.ioLatency,
  cow_disk_iops: cow.iops,
  cow_disk_io_time: cow.ioTime,
  cow_disk_io_latency: cow.ioLatency,
  file_iq_disk_iops: fileIq.iops,
  file_iq_disk_io_time: fileIq.ioTime,
  file_iq_disk_io_latency: fileIq.ioLatency,
} as const satisfies Record<string, readonly Family[]>;

/** Additional series with the same requests and responses: `PORTAL_SERIES` selects them by name, or with `all`. */
export const additionalSeries = {
  os_disk_iops: os.iops,
  os_disk_io_time: os.ioTime,
  os_disk_io_latency: os.ioLatency,
  network_utilization: [
    {
      name: 'filer_appliance_network_bytes_per_second',
      help: 'Network throughput by peer and direction; the direction of the peer cloud is assumed, because the service’s texts contradict each other.',
      from: bytesPerSecond,
      fields: {
        clients_in: { peer: 'clients', direction: 'in' },
        clients_out: { peer: 'clients', direction: 'out' },
        cloud_in: { peer: 'cloud', direction: 'in' },
        cloud_out: { peer: 'cloud', direction: 'out' },
      },
    },
  ],
  smb_connections: [
    {
      name: 'filer_appliance_smb_connections',
      help: 'Active SMB sessions.',
      from: unitless,
      fields: { connections: {} },
    },
  ],
} as const satisfies Record<string, readonly Family[]>;

/** The families of `current_appliance_performance`. If the series of a gauge is enabled too, the gauge comes from that series. */
export const currentPerformance = [
  {
    name: 'filer_appliance_uptime_seconds',
    help: 'Time since the appliance started.',
    from: seconds,
    fields: { uptime: {} },
  },
  { ...cpuUtilization, fields: { cpu_util: {} } },
  { ...loadAverage, fields: { fifteen_minute_load_average: { window: '15m' } } },
  cpuCores,
] as const satisfies readonly Family[];

export const healthScore = [
  {
    name: 'filer_appliance_health_score',
    help: 'Health score of the appliance from the portal, 0 to 100; missing if the portal sends a word instead of a number.',
    from: unitless,
    fields: { health_score: {} },
  },
  {
    name: 'filer_appliance_health_info',
    help: 'Always 1: the health of the appliance as the portal states it.',
    from: enumInfo,
    fields: { health_status: {} },
    enumLabels: { status: { field: 'health_status' } },
  },
] as const satisfies readonly Family[];

export const seriesTimestamp = {
  name: 'filer_appliance_series_timestamp_seconds',
  help: 'Time of the newest record that a series returned.',
  from: epochMilliseconds,
  fields: { time: {} },
} as const satisfies Family;

export const inventoryTable = [
  {
    name: 'filer_appliance_info',
    help: 'Always 1: an appliance of the inventory with its type, its build and the build it can be updated to.',
    from: infoOne,
    fields: { id: {} },
    enumLabels: { type: { field: 'type' } },
    fieldLabels: { build: 'build', available_build: 'available_build' },
  },
] as const satisfies readonly Family[];

export const applianceStateFamilies = {
  up: {
    name: 'filer_appliance_up',
    help: '1 while the series of the appliance return records, 0 when none has returned one for STALE_AFTER intervals of its most frequent series; missing while the portal is down.',
    from: unitless,
    fields: {},
  },
  state: {
    name: 'filer_appliance_state',
    help: 'Always 1: reporting while the appliance is up, or why it is down: no_records (the portal has no records of it, for example because it is off) or unavailable (requests about it fail); missing while the portal is down.',
    from: unitless,
    fields: {},
    fieldLabels: { state: 'state' },
  },
  lastRecord: {
    name: 'filer_appliance_last_record_timestamp_seconds',
    help: 'Time of the newest record of any series of the appliance, which stays when no more records arrive.',
    from: epochMilliseconds,
    fields: {},
  },
} as const satisfies Record<string, Family>;
