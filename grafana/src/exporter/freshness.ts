import { chart } from '../charts.ts';
import { number } from '../numbers.ts';
import { select } from '../select.ts';
import { above, noneAllowed, noneExpected, plain } from '../steps.ts';

const each = (metric: string, by: string) => `max by (${by}) (${select(metric)})`;

/** How old the data is, and how old it has to be. */
export const freshnessPanels = [
  chart({
    title: 'Age of the data',
    description:
      'Time since the last good poll: of the task in the middle, of the one that waits longest, and the worst that healthy data can reach with the limits as they are. Measured above computed is a task that fails: the status page names it.',
    queries: [
      { expr: each('filer_exporter_data_age_seconds', 'api, statistic'), legend: '{{api}} {{statistic}}' },
      { expr: each('filer_exporter_data_age_computed_worst_seconds', 'api'), legend: '{{api}} computed worst' },
    ],
    steps: above(900, 1800),
    width: 12,
  }),
  chart({
    title: 'Interval and sweep',
    description:
      'Time between two polls of the same thing as the limits allow it and as it is asked for, and how long the last whole round took. Above the one asked for the fleet has outgrown the limits: raise it, drop series, or shard over accounts.',
    queries: [
      { expr: each('filer_exporter_effective_interval_seconds', 'api'), legend: '{{api}} interval' },
      { expr: each('filer_exporter_configured_interval_seconds', 'api'), legend: '{{api}} asked for' },
      { expr: each('filer_exporter_sweep_duration_seconds', 'api'), legend: '{{api}} last sweep' },
    ],
    steps: plain,
    width: 12,
  }),
  chart({
    title: 'Resting tasks over time',
    description: 'Tasks backed off, by reason. A jump of forbidden is a right or licence that was taken away.',
    queries: [
      {
        expr: `sum by (api, reason) (${select('filer_exporter_tasks_resting')})`,
        legend: '{{api}} {{reason}}',
      },
    ],
    steps: plain,
    width: 12,
    stacked: true,
  }),
  chart({
    title: 'Tasks that are late',
    description:
      'Tasks that have missed more than one poll, of those that do not rest. Interval and limits do not explain it: the service answers and some polls fail; the status page names them.',
    queries: [{ expr: each('filer_exporter_tasks_overdue', 'api'), legend: '{{api}}' }],
    steps: noneAllowed,
    width: 12,
  }),
  chart({
    title: 'Events remembered',
    description:
      'Events kept so that each counts once, and how many may be kept in all. Near the limit the oldest are forgotten and could count again.',
    queries: [
      { expr: each('filer_exporter_event_memory_events', 'instance'), legend: '{{instance}} remembered' },
      {
        expr: `max by (instance, scope) (${select('filer_exporter_event_memory_limit_events')})`,
        legend: '{{instance}} limit, {{scope}}',
      },
    ],
    steps: plain,
    width: 16,
  }),
  number({
    title: 'State file errors',
    description:
      'Reads and writes of the state file that failed in the time shown. Check that its folder is there, writable and not full: until then a restart goes back to what it holds.',
    queries: [
      {
        expr: `round(sum(increase(${select('filer_exporter_state_file_errors_total')}[$__range])))`,
        legend: 'errors',
      },
    ],
    steps: noneExpected,
    width: 8,
    height: 8,
  }),
];
