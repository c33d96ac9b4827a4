import { limits } from '../limits.ts';
import { table } from '../numbers.ts';
import { drillDown } from '../places.ts';
import { quantile, select } from '../select.ts';
import { noneExpected, plain } from '../steps.ts';

const api = (metric: string) => `max by (api) (${select(metric)})`;
const oldest = `max by (volume) (${select('volume_filer:oldest_unprotected_data_age:seconds')})`;

/** How each service and each volume is. */
export const healthPanels = [
  table({
    title: 'By service',
    description:
      'Time since the last good poll of each service, the age of its oldest data, and its tasks that are late. Growing ages are a service that fails or throttles: the Exporter dashboard has its answers.',
    queries: [
      { expr: `time() - ${api('filer_exporter_last_success_timestamp_seconds')}`, legend: 'Last answer' },
      {
        expr: `max by (api) (${select('filer_exporter_data_age_seconds', { statistic: '="worst"' })})`,
        legend: 'Oldest data',
      },
      { expr: api('filer_exporter_tasks_overdue'), legend: 'Late tasks' },
    ],
    columns: [{ label: 'api', title: 'Service' }],
    steps: plain,
    stepsBy: { 'Late tasks': noneExpected },
    width: 11,
    height: 6,
  }),
  table({
    title: 'By volume, the worst first',
    description:
      'The volumes whose data waits longest for the cloud, with their unprotected data and how long nine of ten changes took to reach other filers. Open the one at the top.',
    queries: [
      { expr: `topk(20, ${oldest})`, legend: 'Oldest data waits' },
      {
        expr: `topk(20, sum by (volume) (max by (serial, volume_guid, volume) (${select('filer_volume_unprotected_bytes')})))`,
        legend: 'Unprotected',
      },
      {
        expr: `topk(20, ${quantile(0.9, 'filer_propagation_duration_seconds', { window: '$window', by: ['volume'] })} >= 0)`,
        legend: 'Propagation p90',
      },
    ],
    columns: [{ label: 'volume', title: 'Volume', link: drillDown('volumes', 'volume', `$\{__value.text}`) }],
    steps: plain,
    stepsBy: { 'Oldest data waits': limits.unprotected, 'Propagation p90': limits.propagation },
    width: 13,
    height: 6,
    sortedBy: ['Oldest data waits'],
  }),
];
