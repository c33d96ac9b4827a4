import { alertTable } from '../alerts/table.ts';
import { byService } from '../by-service.ts';
import { chart } from '../charts.ts';
import { upOrDown } from '../mappings.ts';
import { number, stepsOf } from '../numbers.ts';
import { select } from '../select.ts';
import { below, noneExpected, oneIsGood } from '../steps.ts';
import { worst } from '../worst.ts';

const each = (metric: string, by: string, pick: 'max' | 'min' = 'max') => `${pick} by (${by}) (${select(metric)})`;

/** Whether the exporter and the services are there. */
export const servicePanels = [
  number(
    {
      title: 'Exporter',
      description:
        'Whether Prometheus could scrape the exporter. When it is down, nothing here is current: check the process and its address.',
      queries: { expr: each('up', 'job, instance', 'min'), legend: '{{instance}}' },
      steps: oneIsGood,
      width: 12,
    },
    upOrDown,
  ),
  number({
    title: 'Budget left today',
    description:
      'Share of the daily limit that is left. Below a tenth the exporter slows down to make it last: raise PORTAL_INTERVAL or drop series until --plan says that it fits.',
    queries: {
      expr: `${each('filer_exporter_daily_budget_remaining', 'api', 'min')} / ${each('filer_exporter_daily_budget_limit', 'api')}`,
      legend: '{{api}}',
    },
    steps: below(0.3, 0.1),
    width: 12,
    empty: 'no limit',
  }),
  alertTable({ title: 'What is broken', about: { pages: ['exporter'] }, scope: {}, height: 7 }),
  byService(12, 6),
  stepsOf(
    number({
      title: 'Tasks backed off',
      description:
        'Tasks backed off, by reason. forbidden is a right or the licence: ask for it, or drop the series. not_found and empty are what the appliance does not have.',
      queries: { expr: `sum by (reason) (${select('filer_exporter_tasks_resting')})`, legend: '{{reason}}' },
      width: 12,
      height: 6,
    }),
    'forbidden',
    noneExpected,
  ),
];

/** How fast the services are asked, and how fast they may be. */
export const pacePanels = [
  chart({
    title: 'Pace against requests sent',
    description:
      'The pace now, the highest pace in the time shown, and the requests sent. A pace far below its ceiling follows from 429s: other programs use the account’s limit.',
    queries: [
      { expr: each('filer_exporter_pace_requests_per_second', 'api', 'min'), legend: '{{api}} allowed' },
      {
        expr: `max by (api) (max_over_time(${select('filer_exporter_pace_requests_per_second')}[$__range]))`,
        legend: '{{api}} ceiling',
      },
      {
        expr: `sum by (api) (rate(${select('filer_exporter_requests_total')}[$__rate_interval]))`,
        legend: '{{api}} sent',
      },
    ],
    width: 12,
  }),
  chart({
    title: 'Requests by operation',
    description:
      'Requests sent per second, retries included, of the twenty most frequent operations. An even rate is normal; peaks mean restarts or retries.',
    queries: {
      expr: worst(20, `sum by (api, operation) (rate(${select('filer_exporter_requests_total')}[$__rate_interval]))`),
      legend: '{{api}} {{operation}}',
    },
    width: 12,
    stacked: true,
  }),
  chart({
    title: 'Budget left',
    description:
      'Requests left of the daily limit, and the limit. A line that reaches zero before the day ends stops polling: raise the interval. It comes back as the last 24 hours move on.',
    queries: [
      { expr: each('filer_exporter_daily_budget_remaining', 'api', 'min'), legend: '{{api}} left' },
      { expr: each('filer_exporter_daily_budget_limit', 'api'), legend: '{{api}} limit' },
    ],
    width: 8,
    empty: 'no limit',
  }),
  chart({
    title: 'Refused with 429',
    description:
      'Requests rejected with 429 in a few minutes around each moment. A few are normal: the pace finds its limit that way. Steady ones mean that other programs use the account: lower PORTAL_RATE_LIMIT.',
    queries: {
      expr: `round(sum by (api) (increase(${select('filer_exporter_throttled_total')}[$__rate_interval])))`,
      legend: '{{api}}',
    },
    steps: noneExpected,
    width: 8,
  }),
  chart({
    title: 'Waiting for an answer',
    description:
      'Requests in flight. If it stays at PORTAL_CONCURRENCY, the service answers slower than the pace allows: see the durations.',
    queries: { expr: `sum by (api) (${select('filer_exporter_requests_in_flight')})`, legend: '{{api}}' },
    width: 8,
  }),
];
