import { bucketHeatmap, chart } from '../charts.ts';
import { limits } from '../limits.ts';
import { drillDown, more } from '../places.ts';
import { select } from '../select.ts';
import { plain } from '../steps.ts';
import { lowest } from '../worst.ts';

/** How many filers there are up to each of these heights: Grafana makes bands of what lies between. */
const upTo = (bounds: readonly number[], gauge: string) =>
  [...bounds, Number.POSITIVE_INFINITY]
    .map((bound) => {
      const le = Number.isFinite(bound) ? `${bound}` : '+Inf';
      return `label_replace(sum(max by (filer) (${select(gauge)}) <= bool ${le}), "le", "${le}", "", "")`;
    })
    .join(' or ');
const shares = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];
const latencies = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2];
const ages = [300, 900, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400];

/** How all appliances are, over time. */
export const spreadPanels = [
  bucketHeatmap({
    title: 'Processors, all appliances',
    description:
      'How many appliances were how busy: the darker, the more. A band that moves up together is common cause: a scan, an update, a season.',
    queries: [{ expr: upTo(shares, 'filer_appliance_cpu_utilization_ratio'), legend: '{{le}}' }],
    measures: select('filer_appliance_cpu_utilization_ratio'),
    steps: plain,
    width: 12,
  }),
  bucketHeatmap({
    title: 'Cache, all appliances',
    description:
      'How full the caches were. A band that creeps up over weeks says when to enlarge them, before users notice.',
    queries: [{ expr: upTo(shares, 'filer_appliance_cache_utilization_ratio'), legend: '{{le}}' }],
    measures: select('filer_appliance_cache_utilization_ratio'),
    steps: plain,
    width: 12,
  }),
  bucketHeatmap({
    title: 'Disk latency, all appliances',
    description:
      'How slow the slowest disks were. One dark band low down is good; a second one higher up is a group of appliances on slow storage.',
    queries: [{ expr: upTo(latencies, 'filer_appliance_disk_io_latency_seconds'), legend: '{{le}}' }],
    measures: select('filer_appliance_disk_io_latency_seconds'),
    steps: plain,
    width: 12,
  }),
  bucketHeatmap({
    title: 'Oldest unprotected data, all filers',
    description:
      'How old the oldest unprotected data was. A band that rises over the day and falls at night is the rhythm of the office; one that does not fall is not protected.',
    queries: [{ expr: upTo(ages, 'volume_filer:oldest_unprotected_data_age:seconds'), legend: '{{le}}' }],
    measures: select('volume_filer:oldest_unprotected_data_age:seconds'),
    steps: plain,
    width: 12,
    links: [more('volumes')],
    empty: 'no data known to wait',
  }),
];

/** What the portal makes of them. */
export const healthPanels = [
  chart({
    title: 'Health scores',
    description:
      'The lowest scores that the portal gives, 0 to 100. Open the health page of those below 80. Empty where the series is not polled.',
    queries: [{ expr: lowest(10, `min by (filer) (${select('filer_appliance_health_score')})`), legend: '{{filer}}' }],
    steps: limits.healthScore,
    width: 24,
    drill: [drillDown('appliance', 'filer')],
    empty: 'not polled',
  }),
];
