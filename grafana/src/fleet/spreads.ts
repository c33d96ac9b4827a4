import { chart, spreadHeatmap } from '../charts.ts';
import { limits } from '../limits.ts';
import { drillDown, more } from '../places.ts';
import { select } from '../select.ts';

const byFiler = (gauge: string) => `max by (filer) (${select(gauge)})`;

/** How all appliances are, over time. */
export const spreadPanels = [
  spreadHeatmap({
    title: 'Processors, all appliances',
    description:
      'How many appliances were how busy: the darker, the more. A band that moves up together is common cause: a scan, an update, a season.',
    queries: [{ expr: byFiler('filer_appliance_cpu_utilization_ratio'), legend: '{{filer}}' }],
    steps: limits.cpu,
    width: 12,
  }),
  spreadHeatmap({
    title: 'Cache, all appliances',
    description:
      'How full the caches were. A band that creeps up over weeks says when to enlarge them, before users notice.',
    queries: [{ expr: byFiler('filer_appliance_cache_utilization_ratio'), legend: '{{filer}}' }],
    steps: limits.cache,
    width: 12,
  }),
  spreadHeatmap({
    title: 'Disk latency, all appliances',
    description:
      'How slow the slowest disks were. One dark band low down is good; a second one higher up is a group of appliances on slow storage.',
    queries: [{ expr: byFiler('filer_appliance_disk_io_latency_seconds'), legend: '{{filer}}' }],
    steps: limits.diskLatency,
    width: 12,
  }),
  spreadHeatmap({
    title: 'Oldest unprotected data, all filers',
    description:
      'How old the oldest unprotected data was. A band that rises over the day and falls at night is the rhythm of the office; one that does not fall is not protected.',
    queries: [{ expr: byFiler('volume_filer:oldest_unprotected_data_age:seconds'), legend: '{{filer}}' }],
    steps: limits.unprotected,
    width: 12,
    links: [more('volumes')],
    empty: 'nothing waits',
  }),
];

/** What the portal makes of them. */
export const healthPanels = [
  chart({
    title: 'Health scores',
    description:
      'The lowest scores that the portal gives, 0 to 100. Open the health page of those below 80. Empty where the series is not polled.',
    queries: [
      { expr: `bottomk($top, min by (filer) (${select('filer_appliance_health_score')}))`, legend: '{{filer}}' },
    ],
    steps: limits.healthScore,
    width: 24,
    drill: [drillDown('appliance', 'filer')],
    empty: 'not polled',
  }),
];
