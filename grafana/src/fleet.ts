import { chart, spreadHeatmap } from './charts.ts';
import { highest, hitRatio, loadPerCore } from './common.ts';
import type { Dashboard } from './dashboard.ts';
import { dashboard } from './dashboard.ts';
import { limits } from './limits.ts';
import { number, ranking, stepsOf, table } from './numbers.ts';
import { drillDown, more } from './places.ts';
import { select } from './select.ts';
import { noneAllowed, noneExpected, plain, type Steps } from './steps.ts';

const up = select('filer_appliance_up');
const info = select('filer_appliance_info');
const telemetryAge = `time() - max by (filer) (${select('filer_appliance_series_timestamp_seconds')})`;
const waiting = { available_build: '!=""' } as const;

const present = [
  stepsOf(
    number({
      title: 'Appliances',
      description:
        'Appliances of the inventory that report, and those that do not. The table below names the silent ones.',
      queries: [
        { expr: `sum(${up})`, legend: 'up' },
        { expr: `sum(${up} == bool 0)`, legend: 'not reporting' },
      ],
      steps: plain,
      width: 8,
    }),
    'not reporting',
    noneAllowed,
  ),
  number({
    title: 'By kind',
    description:
      'Appliances by kind, as the inventory has them. A number that changes without a change of yours is one that joined or left: ask who did it.',
    queries: [{ expr: `count by (type) (${info})`, legend: '{{type}}' }],
    steps: plain,
    width: 8,
  }),
  number({
    title: 'Updates waiting',
    description: 'Appliances that could be updated. Plan the update; builds far apart are harder to support.',
    queries: [
      {
        expr: `count(${select('filer_appliance_info', waiting)}) or 0 * count(${info})`,
        legend: 'appliances',
      },
    ],
    steps: noneExpected,
    width: 8,
  }),
  table({
    title: 'Not reporting',
    description:
      'Appliances whose telemetry did not answer at the latest polls. Check that each runs and sends telemetry; the exporter’s status page has the last error in words.',
    queries: [{ expr: `max by (filer, serial) (${up} == 0)`, legend: 'Up' }],
    columns: [
      { label: 'filer', title: 'Appliance', link: drillDown('appliance', 'filer', `$\{__value.text}`) },
      { label: 'serial', title: 'Serial' },
    ],
    steps: noneAllowed,
    width: 8,
    empty: 'every appliance reports',
  }),
  ranking({
    title: 'By build',
    description:
      'Appliances by build. Behaviour that differs between appliances often differs by build: compare before you look further.',
    queries: [{ expr: `sort_desc(count by (build) (${info}))`, legend: '{{build}}' }],
    steps: plain,
    width: 8,
  }),
  ranking({
    title: 'Oldest telemetry',
    description:
      'Appliances by the age of their newest telemetry. Those at the top report late or no more; all alike is the portal or the exporter.',
    queries: [{ expr: `topk($top, ${telemetryAge})`, legend: '{{filer}}' }],
    steps: limits.telemetryAge,
    width: 8,
    drill: [drillDown('appliance', 'filer')],
  }),
];

const pressures: readonly {
  readonly title: string;
  readonly description: string;
  readonly expr: string;
  readonly steps: Steps;
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
    steps: plain,
  },
  {
    title: 'Sent to the cloud',
    description: 'Who uploads most. For hours at the line’s ceiling, protection falls behind: see bandwidth limits.',
    expr: highest('$top', 'filer_appliance_network_bytes_per_second', { peer: '="cloud"', direction: '="out"' }),
    steps: plain,
  },
  {
    title: 'SMB sessions',
    description: 'Where most users are. Spread them where an appliance has far more than its cores can serve.',
    expr: highest('$top', 'filer_appliance_smb_connections'),
    steps: plain,
  },
];

const rankings = pressures.map(({ title, description, expr, steps }) =>
  ranking({
    title,
    description,
    queries: [{ expr, legend: '{{filer}}' }],
    steps,
    width: 8,
    drill: [drillDown('appliance', 'filer')],
    empty: 'series not polled',
  }),
);

const byFiler = (gauge: string) => `max by (filer) (${select(gauge)})`;

const spreads = [
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
    queries: [{ expr: byFiler('filer_oldest_unprotected_data_age_seconds'), legend: '{{filer}}' }],
    steps: limits.unprotected,
    width: 12,
    links: [more('volumes')],
    empty: 'nothing waits',
  }),
];

const health = [
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

/** All appliances against each other. */
export function fleet(): Dashboard {
  return dashboard({
    place: 'fleet',
    description:
      'All appliances against each other: who is silent, who is under most pressure, and how all of them are.',
    reach: '24h',
    variables: ['job', 'filer', 'volume', 'top'],
    sections: [
      { title: 'Who is there', panels: present },
      { title: 'Under most pressure', panels: rankings },
      { title: 'All of them over time', panels: spreads },
      { title: 'As the portal judges', panels: health },
    ],
  });
}
