import { chart } from '../charts.ts';
import { words } from '../mappings.ts';
import { number } from '../numbers.ts';
import { select } from '../select.ts';
import { above, below, oneIsGood, plain } from '../steps.ts';

const each = (metric: string) => `max by (instance) (${select(metric)})`;

/** What a scrape costs. */
export const scrapePanels = [
  chart({
    title: 'Time of a scrape',
    description:
      'Duration of a scrape. It should be far below the scrape time-out; if it rises with the number of samples, the network is slow or the machine busy.',
    queries: [{ expr: `max by (job, instance) (${select('scrape_duration_seconds')})`, legend: '{{instance}}' }],
    steps: above(2, 8),
    width: 12,
  }),
  chart({
    title: 'Samples',
    description:
      'Samples of upstream data that the exporter holds, and samples in each scrape. A jump is appliances that joined; a fall is data that went stale.',
    queries: [
      { expr: `max by (job, instance) (${select('filer_exporter_samples')})`, legend: '{{instance}} held' },
      { expr: `max by (job, instance) (${select('scrape_samples_scraped')})`, legend: '{{instance}} scraped' },
    ],
    steps: plain,
    width: 12,
  }),
];

/** What scrapes are guarded by, where there is a web configuration file. */
export const guardPanels = [
  number(
    {
      title: 'Web configuration in force',
      description:
        'Whether the current web configuration and its certificates are in effect. If not, the previous ones are: the log has the faulty line.',
      queries: [
        {
          expr: `min by (instance) (${select('filer_exporter_web_config_last_reload_successful')})`,
          legend: '{{instance}}',
        },
      ],
      steps: oneIsGood,
      width: 8,
    },
    words([1, 'yes', 'green'], [0, 'no', 'red']),
  ),
  number({
    title: 'Age of the web configuration',
    description:
      'Time since the web configuration in effect was read. A long time is normal, unless the file has changed.',
    queries: [
      {
        expr: `time() - ${each('filer_exporter_web_config_last_reload_success_timestamp_seconds')}`,
        legend: '{{instance}}',
      },
    ],
    steps: plain,
    width: 8,
  }),
  number({
    title: 'Certificate left',
    description:
      'Time until the certificate of the exporter expires. Renew it before: the new file is read without a restart.',
    queries: [
      {
        expr: `min by (instance) (${select('filer_exporter_web_certificate_expiry_timestamp_seconds')}) - time()`,
        legend: '{{instance}}',
      },
    ],
    steps: below(14 * 86_400, 3 * 86_400),
    width: 8,
  }),
];

/** The process itself. */
export const processPanels = [
  number({
    title: 'Running for',
    description: 'Time since the exporter started. After an unexpected restart, its log has the cause.',
    queries: [{ expr: `time() - ${each('process_start_time_seconds')}`, legend: '{{instance}}' }],
    steps: plain,
    width: 6,
    height: 8,
  }),
  chart({
    title: 'Processor',
    description:
      'Share of one core that the process uses. Near 100 % polls and scrapes wait for each other: use shards, or a faster machine.',
    queries: [
      {
        expr: `max by (instance) (rate(${select('process_cpu_seconds_total')}[$__rate_interval]))`,
        legend: '{{instance}}',
      },
    ],
    steps: above(0.7, 0.9),
    width: 9,
    toOne: true,
  }),
  chart({
    title: 'Memory',
    description:
      'Memory of the process, with heap and buffers. A sawtooth is garbage collection; report a line that rises for days as a leak.',
    queries: [
      { expr: each('process_resident_memory_bytes'), legend: '{{instance}} resident' },
      { expr: each('nodejs_heap_size_used_bytes'), legend: '{{instance}} heap used' },
      { expr: each('nodejs_heap_size_total_bytes'), legend: '{{instance}} heap' },
      { expr: each('nodejs_external_memory_bytes'), legend: '{{instance}} buffers' },
    ],
    steps: plain,
    width: 9,
  }),
  chart({
    title: 'Event loop lag',
    description:
      'Delay of the event loop. Above 100 ms scrapes and timers are late: the machine is short of processor time, or a step takes too long.',
    queries: [
      { expr: each('nodejs_eventloop_lag_p50_seconds'), legend: '{{instance}} p50' },
      { expr: each('nodejs_eventloop_lag_p99_seconds'), legend: '{{instance}} p99' },
    ],
    steps: above(0.1, 0.5),
    width: 8,
  }),
  chart({
    title: 'Garbage collection',
    description:
      'Share of the time spent on garbage collection, by kind. Above a tenth the heap is too small: give the process more memory.',
    queries: [
      {
        expr: `sum by (instance, kind) (rate(${select('nodejs_gc_duration_seconds_sum')}[$__rate_interval]))`,
        legend: '{{instance}} {{kind}}',
      },
    ],
    steps: above(0.1, 0.3),
    width: 8,
  }),
  chart({
    title: 'Open files',
    description: 'Open files and sockets, and how many may be. Near the limit connections fail: raise it with ulimit.',
    queries: [
      { expr: each('process_open_fds'), legend: '{{instance}} open' },
      { expr: each('process_max_fds'), legend: '{{instance}} limit' },
    ],
    steps: plain,
    width: 8,
  }),
];
