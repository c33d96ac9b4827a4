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
}[] = [
  {
    title: 'Processors in use',
    description: 'The highest share of processors in use. Above 95 % users wait: open the appliance and see its load.',
    expr: highest('$top', 'filer_appliance_cpu_utilization_ratio'),
    steps: limits.cpu,
  },
  {
    title: 'Load per core',
    description: 'The most work waiting for a core. Above 200 % open the appliance: processors or disks hold it up.',
    expr: `topk($top, ${loadPerCore()})`,
    steps: limits.loadPerCore,
  },
  {
    title: 'Memory not available',
    description: 'The least room in memory, from build 10.0.4. Above 95 % plan for more, or look for a leak.',
    expr: highest('$top', 'filer_appliance_memory_utilization_ratio'),
    steps: limits.memory,
  },
  {
    title: 'Cache in use',
    description: 'The fullest caches. Near 100 % with much unprotected data, new data finds no room: enlarge it.',
    expr: highest('$top', 'filer_appliance_cache_utilization_ratio'),
    steps: limits.cache,
  },
  {
    title: 'Lowest hit ratio',
    description: 'Where users wait for the cloud most often. Compare cache size with what they work on.',
    expr: `bottomk($top, ${hitRatio()})`,
    steps: limits.hitRatio,
  },
  {
    title: 'Disk latency',
    description: 'The slowest disk of each appliance. Above 100 ms look at the storage underneath.',
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
    description: 'Who uploads most. For hours at the line’s ceiling, protection falls behind: see bandwidth limits.',
    expr: highest('$top', 'filer_appliance_network_bytes_per_second', { peer: '="cloud"', direction: '="out"' }),
  },
  {
    title: 'SMB sessions',
    description: 'Where most users are. Spread them where an appliance has far more than its cores can serve.',
    expr: highest('$top', 'filer_appliance_smb_connections'),
  },
];

/** Lists the appliances with the highest load, by kind of load. */
export const rankingPanels = pressures.map(({ expr, ...text }) =>
  ranking({ ...text, queries: { expr, legend: '{{filer}}' }, width: 8, drill: [drillDown('appliance', 'filer')] }),
);
