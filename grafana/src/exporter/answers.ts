import { chart } from '../charts.ts';
import { quantiles } from '../common.ts';
import { quantile, select } from '../select.ts';
import { above, noneExpected } from '../steps.ts';

const requests = 'filer_exporter_requests_total';

/** Shows what the services return, and how fast. */
export const answerPanels = [
  chart({
    title: 'Responses by code',
    description:
      'Responses per second by HTTP status, or timeout, network, invalid, oversize. 401: the key; 403: a right or the licence; 404 and 422: what an appliance does not have; 5xx and timeout: the service.',
    queries: {
      expr: `sum by (api, code) (rate(${select(requests)}[$__rate_interval]))`,
      legend: '{{api}} {{code}}',
    },
    width: 12,
    stacked: true,
  }),
  chart({
    title: 'Share of requests that failed',
    description:
      'Requests with neither a 2xx nor a 404 or 422. Above 5 % for long: see which code it is, then key, rights, network or the service.',
    queries: {
      expr: `sum by (api) (rate(${select(requests, { code: '!~"2..|404|422"' })}[$__rate_interval])) / sum by (api) (rate(${select(requests)}[$__rate_interval])) or 0 * sum by (api) (rate(${select(requests)}[$__rate_interval]))`,
      legend: '{{api}}',
    },
    steps: above(0.05, 0.25),
    width: 12,
    toOne: true,
  }),
  chart({
    title: 'Response time',
    description:
      'Median, 90th and 99th percentile of the duration of requests. Near REQUEST_TIMEOUT requests begin to fail: the service or the connection is slow.',
    queries: quantiles((share) => quantile(share, 'filer_exporter_request_duration_seconds', ['api']), ' {{api}}'),
    steps: above(5, 20),
    width: 12,
  }),
  chart({
    title: 'Slowest operations, p90',
    description: 'Which operations take longest. One that stands out may deserve an interval of its own.',
    queries: {
      expr: `topk(10, ${quantile(0.9, 'filer_exporter_request_duration_seconds', ['api', 'operation'])})`,
      legend: '{{api}} {{operation}}',
    },
    steps: above(5, 20),
    width: 12,
  }),
  chart({
    title: 'Values without a sample',
    description:
      'Values dropped or corrected in a few minutes around each moment, by reason. absent is normal: an appliance lacks the value. Report invalid and record that appear with an update of the service.',
    queries: {
      expr: `round(sum by (api, reason) (increase(${select('filer_exporter_samples_dropped_total')}[$__rate_interval])))`,
      legend: '{{api}} {{reason}}',
    },
    width: 12,
  }),
  chart({
    title: 'Events lost or forgotten',
    description:
      'Announced events that never arrived, and evicted events, in a few minutes around each moment. Missed: another instance with the same client key, or lost responses. Evicted: more filers than the memory allows.',
    queries: [
      {
        expr: `round(sum(increase(${select('filer_exporter_event_bookmarks_missed_total')}[$__rate_interval])))`,
        legend: 'missed',
      },
      {
        expr: `round(sum(increase(${select('filer_exporter_event_memory_evicted_total')}[$__rate_interval])))`,
        legend: 'forgotten',
      },
    ],
    steps: noneExpected,
    width: 12,
  }),
];
