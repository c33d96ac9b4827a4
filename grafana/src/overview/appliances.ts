import { chart } from '../charts.ts';
import { applianceCounts } from '../common.ts';
import { limits } from '../limits.ts';
import { drillDown, more } from '../places.ts';
import { select } from '../select.ts';
import { plain } from '../steps.ts';
import { worst } from '../worst.ts';

const highest = (gauge: string) => worst(5, `max by (filer) (${select(gauge)})`);

/** Appliances over time. */
export const appliancePanels = [
  chart({
    title: 'Appliances over time',
    description:
      'How many appliances report and how many do not. A step down is an outage or a lost right; a slow fall is appliances that left the account.',
    queries: applianceCounts(),
    steps: plain,
    width: 8,
    stacked: true,
    links: [more('fleet')],
  }),
  chart({
    title: 'Busiest processors',
    description:
      'The five appliances that use most of their processors. Above 95 % for long, users wait: look at the load and at what the appliance does.',
    queries: [{ expr: highest('filer_appliance_cpu_utilization_ratio'), legend: '{{filer}}' }],
    steps: limits.cpu,
    width: 8,
    toOne: true,
    drill: [drillDown('appliance', 'filer')],
  }),
  chart({
    title: 'Fullest caches',
    description:
      'The five appliances with the fullest cache. A full cache evicts what users need next, and cannot take new data before it is protected: enlarge it or see why data waits.',
    queries: [{ expr: highest('filer_appliance_cache_utilization_ratio'), legend: '{{filer}}' }],
    steps: limits.cache,
    width: 8,
    toOne: true,
    drill: [drillDown('appliance', 'filer')],
  }),
];
