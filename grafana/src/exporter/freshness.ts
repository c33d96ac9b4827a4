import { chart } from '../charts.ts';
import { number } from '../numbers.ts';
import { select } from '../select.ts';
import { late } from '../service.ts';
import { above, noneExpected } from '../steps.ts';

const each = (metric: string, by: string) => `max by (${by}) (${select(metric)})`;

/** Shows how old the data is, and how old it may be. */
export const freshnessPanels = [
  chart({
    title: 'Time since the last successful poll',
    times: 'min',
    description:
      'Time since the last successful poll of a task: median, worst, and the highest age of healthy data. A measured age above the computed one means a failing task: the status page names it.',
    queries: [
      { expr: each('filer_exporter_data_age_median_seconds', 'api'), legend: '{{api}} median' },
      { expr: each('filer_exporter_data_age_worst_seconds', 'api'), legend: '{{api}} worst' },
      { expr: each('filer_exporter_data_age_computed_worst_seconds', 'api'), legend: '{{api}} computed worst' },
    ],
    steps: above(900, 1800),
    width: 12,
  }),
  chart({
    title: 'Interval and cycle',
    // In minutes, an interval of some seconds would be a fraction.
    unit: 'suffix:s',
    description:
      'Effective and configured interval, and the duration of the last polling cycle. If the effective interval is longer, the fleet exceeds the limits: raise the interval or remove series.',
    queries: [
      { expr: each('filer_exporter_effective_interval_seconds', 'api'), legend: '{{api}} interval' },
      { expr: each('filer_exporter_configured_interval_seconds', 'api'), legend: '{{api}} configured' },
      { expr: each('filer_exporter_sweep_duration_seconds', 'api'), legend: '{{api}} last cycle' },
    ],
    width: 12,
  }),
  chart({
    title: 'Suspended tasks over time',
    description:
      'Tasks that are polled seldom, by the reason of their suspension. If forbidden rises, a right or licence was removed.',
    queries: {
      expr: `sum by (api, reason) (${select('filer_exporter_tasks_suspended')})`,
      legend: '{{api}} {{reason}}',
    },
    width: 12,
    stacked: true,
  }),
  chart({
    title: 'Overdue tasks',
    description:
      'Tasks that have missed more than one poll and are not suspended. Interval and limits do not explain it: the service responds and some polls fail; the status page names them.',
    // In an outage the legend has no number.
    queries: { expr: `${late} or NaN * max by (api) (${select('filer_api_up')} == 0)`, legend: '{{api}}' },
    steps: noneExpected,
    empty: 'not known while no service responds',
    width: 12,
  }),
  chart({
    title: 'Events remembered',
    description:
      'Events remembered so that each counts once, and the limit. At the limit the events that were delivered longest ago are evicted, and count again if they are delivered again.',
    queries: [
      { expr: each('filer_exporter_event_memory_events', 'instance'), legend: '{{instance}} remembered' },
      { expr: each('filer_exporter_event_memory_limit_events', 'instance'), legend: '{{instance}} limit' },
    ],
    empty: 'no events: file acceleration is not configured, or the exporter is down',
    width: 16,
  }),
  number({
    title: 'State file errors',
    description:
      'Failed reads and writes of the state file. Check that its folder exists, is writable and not full. Until then, a restart continues from the counts that were saved last.',
    queries: {
      expr: `round(sum(increase(${select('filer_exporter_state_file_errors_total')}[$__range])))`,
      legend: 'errors',
    },
    steps: noneExpected,
    width: 8,
    height: 9,
  }),
];
