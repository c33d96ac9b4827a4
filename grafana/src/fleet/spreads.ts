import { bucketHeatmap, chart } from '../charts.ts';
import { hitRatio } from '../common.ts';
import { limits } from '../limits.ts';
import { drillDown } from '../places.ts';
import { select } from '../select.ts';
import { worst } from '../worst.ts';

/** Counts the filers below each of these values: Grafana draws a band between two of them. */
const upTo = (bounds: readonly number[], gauge: string) =>
  bounds
    .map((bound) => {
      const le = Number.isFinite(bound) ? `${bound}` : '+Inf';
      return `label_replace(sum(max by (filer) (${select(gauge)}) <= bool ${le}), "le", "${le}", "", "")`;
    })
    .join(' or ');
const shares = [0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1];
const latencies = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, Number.POSITIVE_INFINITY];

/** Filers whose cache is not full are left out before the sums, which take many seconds in a large fleet. */
const amongFull = ` and on (filer) ${select('filer_appliance_cache_utilization_ratio')} > ${limits.worstCache}`;

/** Shows the distribution over all appliances, over time. */
export const spreadPanels = [
  bucketHeatmap({
    title: 'Processors, all appliances',
    description:
      'The distribution of processor use over all appliances; the scale of colours shows how many. If the whole band rises, there is one cause, such as a scan or an update.',
    queries: { expr: upTo(shares, 'filer_appliance_cpu_utilization_ratio'), legend: '{{le}}' },
    measures: select('filer_appliance_cpu_utilization_ratio'),
    width: 8,
  }),
  bucketHeatmap({
    title: 'Cache, all appliances',
    description: 'The distribution of cache use. If the band rises over weeks, enlarge the caches before users notice.',
    queries: { expr: upTo(shares, 'filer_appliance_cache_utilization_ratio'), legend: '{{le}}' },
    measures: select('filer_appliance_cache_utilization_ratio'),
    width: 8,
  }),
  bucketHeatmap({
    title: 'Disk latency, all appliances',
    description: 'The distribution of disk latency. A second band further up is a group of appliances on slow storage.',
    queries: { expr: upTo(latencies, 'filer_appliance_disk_io_latency_seconds'), legend: '{{le}}' },
    measures: select('filer_appliance_disk_io_latency_seconds'),
    width: 8,
  }),
  chart({
    title: 'Hit ratio of full caches, the lowest',
    ofAll: true,
    description:
      'The ten appliances with a full cache whose users wait for the cloud most often. A full cache is normal. If the hit ratio falls while the cache is full, the cache is too small for the data in use.',
    queries: { expr: `-1 * (${worst(10, `-1 * (${hitRatio(amongFull)})`)})`, legend: '{{filer}}' },
    steps: limits.hitRatio,
    width: 24,
    drill: [drillDown('appliance', 'filer')],
    empty: 'no cache is full, or nothing is known',
  }),
];
