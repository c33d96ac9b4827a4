import { highest, hitRatio, loadPerCore } from '../common.ts';
import { limits } from '../limits.ts';
import { ranking } from '../numbers.ts';
import { drillDown } from '../places.ts';
import type { Steps } from '../steps.ts';

const pressures: readonly {
  readonly title: string;
  readonly description: string;
  readonly expr: string;
  readonly steps?: Steps;
  readonly lowestFirst?: true;
}[] = [
  {
    title: 'Processors in use',
    description: 'The highest share of processors in use. Above 95 % users wait: open the appliance and see its load.',
    expr: highest('$top', 'filer_appliance_cpu_utilization_ratio'),
    steps: limits.cpu,
  },
  {
    title: 'Load per core',
    description:
      'The highest load for each core. Above 200 %, open the appliance: its processors or disks are too slow.',
    expr: `topk($top, ${loadPerCore()})`,
    steps: limits.loadPerCore,
  },
  {
    title: 'Memory not available',
    description:
      'The highest share of memory in use, from build 10.0.4 on. Above 95 %, add memory, or look for a leak.',
    expr: highest('$top', 'filer_appliance_memory_utilization_ratio'),
    steps: limits.memory,
  },
  {
    title: 'Cache in use',
    description:
      'The fullest caches. Near 100 % with much unprotected data, there is no room for new data: enlarge the cache.',
    expr: highest('$top', 'filer_appliance_cache_utilization_ratio'),
    steps: limits.cache,
  },
  {
    title: 'Lowest hit ratio',
    description:
      'The lowest hit ratios: there users wait for the cloud most often. Compare the size of the cache with the data in use.',
    expr: `bottomk($top, ${hitRatio()})`,
    steps: limits.hitRatio,
    lowestFirst: true,
  },
  {
    title: 'Disk latency',
    description: 'The slowest disk of each appliance. Above 50 ms, check the storage.',
    expr: highest('$top', 'filer_appliance_disk_io_latency_seconds'),
    steps: limits.diskLatency,
  },
  {
    title: 'Disk operations',
    description: 'The busiest disk of each appliance. Compare with what its storage can do.',
    expr: highest('$top', 'filer_appliance_disk_iops'),
  },
  {
    title: 'Sent to the cloud',
    description:
      'The appliances that upload most. If an upload uses the whole connection for hours, data is protected too slowly: check the bandwidth limits.',
    expr: highest('$top', 'filer_appliance_network_bytes_per_second', { peer: '="cloud"', direction: '="out"' }),
  },
  {
    title: 'SMB sessions',
    description:
      'The appliances with the most sessions. If one has far more than its cores can serve, move users to others.',
    expr: highest('$top', 'filer_appliance_smb_connections'),
  },
];

/** Lists the appliances with the highest load, by kind of load. */
export const rankingPanels = pressures.map(({ expr, ...text }) =>
  ranking({
    ...text,
    queries: { expr, legend: '{{filer}}' },
    name: 'Appliance',
    width: 8,
    drill: drillDown('appliance', 'filer', `$\{__value.text}`),
    empty: 'not reported',
  }),
);
