import { alertTable } from '../alerts/table.ts';
import { byService } from '../by-service.ts';
import { chart } from '../charts.ts';
import { noLimit, upOrDown } from '../mappings.ts';
import { number, stateCounts } from '../numbers.ts';
import { select } from '../select.ts';
import { below, noneExpected, oneIsGood } from '../steps.ts';
import { worst } from '../worst.ts';

const each = (metric: string, by: string, pick: 'max' | 'min' = 'max') => `${pick} by (${by}) (${select(metric)})`;

const limit = each('filer_exporter_daily_budget_limit', 'api');

/** Shows whether the exporter and the services are up. */
export const servicePanels = [
  number(
    {
      title: 'Exporter',
      description:
        'Whether Prometheus could scrape the exporter. While it cannot, all values here are old: check the process and its address.',
      queries: { expr: each('up', 'job, instance', 'min'), legend: '{{instance}}' },
      steps: oneIsGood,
      width: 12,
    },
    upOrDown,
  ),
  number(
    {
      title: 'Daily quota left',
      description:
        'Remaining share of the daily limit. Below a tenth, raise PORTAL_INTERVAL or remove series until --plan prints that the fleet fits.',
      queries: {
        expr: `${each('filer_exporter_daily_budget_remaining', 'api', 'min')} / ${limit} or on (api) -1 * group by (api) (${select('filer_api_up')}) unless on () ${limit}`,
        legend: '{{api}}',
      },
      steps: below(0.3, 0.1),
      width: 12,
      empty: 'not known: the exporter cannot be scraped',
    },
    noLimit,
  ),
  alertTable({ title: 'What is broken', about: { pages: ['exporter'] }, scope: {}, height: 7 }),
  byService(12, 6),
  stateCounts(
    number({
      title: 'Suspended tasks',
      description:
        'Tasks that are polled seldom, by the reason of their suspension. forbidden: a right or the licence is missing; get it, or remove the series. not_found and empty: the appliance does not have the series.',
      queries: { expr: `sum by (reason) (${select('filer_exporter_tasks_suspended')})`, legend: '{{reason}}' },
      width: 12,
      height: 6,
    }),
    'forbidden',
  ),
];

/** Shows the request rate, and the highest rate that the limits allow. */
export const pacePanels = [
  chart({
    title: 'Request rate',
    description:
      'The request rate that is allowed now, the highest one, and the requests sent. If the rate is far below the highest one, the service returned 429: other programs use the limit of the account.',
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
    title: 'Daily quota left over time',
    description:
      'Requests left of the daily limit, and the limit. If it comes near zero, raise the interval. It recovers as requests become older than 24 hours.',
    queries: [
      { expr: each('filer_exporter_daily_budget_remaining', 'api', 'min'), legend: '{{api}} left' },
      { expr: each('filer_exporter_daily_budget_limit', 'api'), legend: '{{api}} limit' },
    ],
    width: 8,
    empty: 'no limit is set, or the exporter is down',
  }),
  chart({
    title: 'Throttled with 429',
    description:
      'Requests rejected with 429. A few are normal, because the exporter finds the limit by them. If they continue, other programs use the account: lower PORTAL_RATE_LIMIT.',
    queries: {
      expr: `round(sum by (api) (increase(${select('filer_exporter_throttled_total')}[$__rate_interval])))`,
      legend: '{{api}}',
    },
    steps: noneExpected,
    width: 8,
  }),
  chart({
    title: 'Requests in flight',
    description:
      'Requests in flight. If it stays at PORTAL_CONCURRENCY, the service responds slower than the request rate allows: see the response times.',
    queries: { expr: `sum by (api) (${select('filer_exporter_requests_in_flight')})`, legend: '{{api}}' },
    width: 8,
  }),
];
