import { chart } from '../charts.ts';
import { hitRatio, loadPerCore } from '../common.ts';
import { limits } from '../limits.ts';
import { select } from '../select.ts';

const by = (labels: string, gauge: string) => `max by (${labels}) (${select(gauge)})`;

/** Shows the most important numbers of the appliance. */
export const glancePanels = [
  chart({
    title: 'Processors in use',
    description:
      'Share of the processors in use. If it stays above 95 %, users wait: compare with load and disks, and move work to off-peak hours or add cores.',
    queries: { expr: by('filer', 'filer_appliance_cpu_utilization_ratio'), legend: '{{filer}}' },
    steps: limits.cpu,
    width: 8,
  }),
  chart({
    title: 'Cache in use',
    description:
      'Share of the cache disk in use. A full cache is normal. If it is near 100 % and much data is unprotected, there is no room for new data: find out why the data waits, or enlarge the cache.',
    queries: { expr: by('filer', 'filer_appliance_cache_utilization_ratio'), legend: '{{filer}}' },
    steps: limits.cache,
    width: 8,
  }),
];

/** Processors and memory. */
export const loadPanels = [
  chart({
    title: 'Load against cores',
    description:
      'Processes that run or wait, and the number of cores. If the load exceeds the cores while processors are idle, the processes wait for disks.',
    queries: [
      { expr: by('filer, window', 'filer_appliance_load_average'), legend: 'load {{window}}' },
      { expr: by('filer', 'filer_appliance_cpu_cores'), legend: 'cores' },
    ],
    width: 12,
  }),
  chart({
    title: 'Load per core',
    description:
      'One-minute load for each core. Above 100 %, processes wait for a core. If it stays above 200 %, users notice.',
    queries: { expr: loadPerCore(), legend: '{{filer}}' },
    steps: limits.loadPerCore,
    width: 12,
  }),
  chart({
    title: 'Memory not available',
    description:
      'Share of the memory that is not available. Above 95 %, the appliance may swap or end programs: find out what changed, or add memory. Only builds from 10.0.4 on report it.',
    queries: { expr: by('filer', 'filer_appliance_memory_utilization_ratio'), legend: '{{filer}}' },
    steps: limits.memory,
    width: 12,
  }),
  chart({
    title: 'Memory by state',
    description:
      'Memory by state, from build 10.0.4. Free may be near zero because of the file cache; available near zero is bad.',
    queries: { expr: by('filer, state', 'filer_appliance_memory_detail_bytes'), legend: '{{state}}' },
    width: 12,
  }),
];

/** Selects the job that remote write uses by default, and so excludes what is scraped. */
const exact = select('filer_appliance_cpu_utilization_ratio', { job: `="$\{job}-minutes"` });

/** Shows every minute that remote write delivers; a scrape gets one minute of five. */
export const minutePanels = [
  chart({
    title: 'Processors in use, every minute',
    description:
      'Every minute, as remote write delivers it about six minutes later under the job that ends in -minutes. It shows peaks that the chart above misses: compare them with what ran then.',
    queries: { expr: `max by (filer) (${exact})`, legend: '{{filer}}' },
    steps: limits.cpu,
    width: 24,
    empty: 'remote write is off, or sends with another job',
  }),
];

/** Shows the cache, and how many requests it serves. */
export const cachePanels = [
  chart({
    title: 'Hit ratio',
    description:
      'Cache hit ratio. If it is low, users wait for the cloud: the cache is too small for the data in use, or a job reads everything, such as a virus scan.',
    queries: { expr: hitRatio(), legend: '{{filer}}' },
    steps: limits.hitRatio,
    width: 12,
  }),
  chart({
    title: 'Cache requests',
    description:
      'Requests in the newest bin of the telemetry, by result. If many miss at night, a backup or a scan reads everything: exclude the volume from it.',
    queries: { expr: by('filer, result', 'filer_appliance_cache_requests'), legend: '{{result}}' },
    width: 12,
    stacked: true,
  }),
];
