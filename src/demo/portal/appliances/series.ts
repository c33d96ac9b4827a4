import type { LoadNames } from '../../variations.ts';
import {
  cachePercent,
  diskWeight,
  following,
  loadAverage,
  memoryReclaimable,
  memoryTotal,
  memoryUsed,
} from '../../world/load.ts';
import type { Disk } from '../../world/roles.ts';
import type { DemoAppliance } from '../../world/world.ts';

/** One field of a series: its form, and its value at a minute. */
export interface Field {
  /** A decimal is sent as text; a count is a JSON integer, and is the sum of the minutes of a bin. */
  readonly form: 'decimal' | 'rate' | 'count';
  /** Whether a record of the service may have null instead of a value. */
  readonly nullable: boolean;
  /** The unit, if a variation can change it. */
  readonly measure?: 'share' | 'memory' | 'latency';
  readonly value: (appliance: DemoAppliance, at: number) => number;
}

/** One series: its fields, and the appliances that have it. */
export interface Series {
  readonly fields: ReadonlyMap<string, Field>;
  readonly disk?: Disk;
  /** The builds that have it: those with or those without detailed memory. */
  readonly memoryDetails?: boolean;
}

type Value = Field['value'];

const decimal = (value: Value): Field => ({ form: 'decimal', nullable: true, value });
const required = (value: Value): Field => ({ form: 'decimal', nullable: false, value });
const share = (value: Value): Field => ({ ...decimal(value), measure: 'share' });
const memory = (field: Field): Field => ({ ...field, measure: 'memory' });
const rate = (value: Value): Field => ({ form: 'rate', nullable: true, value });
const count = (value: Value): Field => ({ form: 'count', nullable: true, value });

const fields = (entries: Readonly<Record<string, Field>>): ReadonlyMap<string, Field> =>
  new Map(Object.entries(entries));

/** The field names of `load_average`, for 1, 5 and 15 minutes. */
export const loadSpellings: Readonly<Record<LoadNames, readonly [string, string, string]>> = {
  longterm: ['shortterm', 'midterm', 'longterm'],
  fifteen_minute_load_average: ['one_minute_load_average', 'five_minute_load_average', 'fifteen_minute_load_average'],
  '15': ['1', '5', '15'],
  '15min': ['1min', '5min', '15min'],
};

/** The fields of `load_average` in one spelling. */
export function loadFields(names: LoadNames): ReadonlyMap<string, Field> {
  const [one, five, fifteen] = loadSpellings[names];
  return new Map([
    [one, decimal(loadAverage(1))],
    [five, decimal(loadAverage(5))],
    [fifteen, decimal(loadAverage(15))],
  ]);
}

const cpu = following('cpu', 90);
const used: Value = memoryUsed;
const total: Value = memoryTotal;

/** The 20 series by path segment; `load_average` in its default spelling. */
export const applianceSeries: ReadonlyMap<string, Series> = new Map<string, Series>([
  ['load_average', { fields: loadFields('fifteen_minute_load_average') }],
  ['cpu_utilization', { fields: fields({ cpu_usage: share((appliance, at) => Math.min(100, cpu(appliance, at))) }) }],
  [
    'memory_utilization',
    {
      memoryDetails: false,
      fields: fields({
        memory_used: memory(decimal(used)),
        memory_cached: memory(decimal((appliance, at) => 0.85 * memoryReclaimable(appliance, at))),
        memory_buffered: memory(decimal((appliance, at) => 0.15 * memoryReclaimable(appliance, at))),
      }),
    },
  ],
  [
    'memory_utilization_details',
    {
      memoryDetails: true,
      fields: fields({
        total: memory(required(total)),
        available: memory(required((appliance, at) => total(appliance, at) - used(appliance, at))),
        shared: memory(required((appliance, at) => 0.02 * used(appliance, at))),
        buf_rec: memory(required(memoryReclaimable)),
        free: memory(
          required((appliance, at) => total(appliance, at) - used(appliance, at) - memoryReclaimable(appliance, at)),
        ),
        used: memory(required(used)),
        utilization: {
          ...required((appliance, at) => (100 * used(appliance, at)) / total(appliance, at)),
          measure: 'share',
        },
      }),
    },
  ],
  ['cache_utilization', { fields: fields({ cache_utilization: share(cachePercent) }) }],
  [
    'cache_hits_misses',
    {
      fields: fields({ cache_reads: count(following('hits', 20_000)), cache_misses: count(following('misses', 900)) }),
    },
  ],
  [
    'network_utilization',
    {
      fields: fields({
        clients_in: rate(following('clients in', 40e6)),
        clients_out: rate(following('clients out', 120e6)),
        cloud_in: rate(following('cloud in', 30e6)),
        cloud_out: rate(following('cloud out', 50e6)),
      }),
    },
  ],
  ['smb_connections', { fields: fields({ connections: rate(following('sessions', 400)) }) }],
  ...diskSeries('cache', 'cache'),
  ...diskSeries('cow', 'cow_disk'),
  ...diskSeries('file_iq', 'file_iq_disk'),
  ...diskSeries('os', 'os_disk'),
]);

/** The three series of one disk; `prefix` begins its operation fields, which the cache spells differently. */
function diskSeries(disk: Disk, prefix: string): readonly (readonly [string, Series])[] {
  const level = (name: string, most: number) => decimal(following(`${disk}/${name}`, most * diskWeight[disk]));
  const latency = (name: string, most: number): Field => ({
    ...decimal(following(`${disk}/${name}`, most)),
    measure: 'latency',
  });
  const series = (entries: Readonly<Record<string, Field>>): Series => ({ disk, fields: fields(entries) });
  return [
    [
      `${disk}_disk_iops`,
      series({ [`${prefix}_io_reads`]: level('reads', 900), [`${prefix}_io_writes`]: level('writes', 600) }),
    ],
    [`${disk}_disk_io_time`, series({ io_time: level('time', 800), weighted_io_time: level('weighted', 2600) })],
    [`${disk}_disk_io_latency`, series({ read_latency: latency('read', 8), write_latency: latency('write', 14) })],
  ];
}
