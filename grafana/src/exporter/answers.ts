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
      'Responses per second by HTTP status, or timeout, network, invalid, oversize. 401: the key is wrong. 403: a right or the licence is missing. 404 and 422: the appliance does not have the series. 5xx and timeout: the service fails.',
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
      'Share of requests that failed, without 404 and 422. If it stays above 5 %, find the code in the panel of responses, and check the key, the rights, the network or the service.',
    queries: {
      expr: `sum by (api) (rate(${select(requests, { code: '!~"2..|404|422"' })}[$__rate_interval])) / sum by (api) (rate(${select(requests)}[$__rate_interval])) or 0 * sum by (api) (rate(${select(requests)}[$__rate_interval]))`,
      legend: '{{api}}',
    },
    steps: above(0.05, 0.25),
    width: 12,
  }),
  chart({
    title: 'Response time',
    description:
      'Median, 90th and 99th percentile of the duration of requests. If they come near REQUEST_TIMEOUT, requests begin to fail, because the service or the connection is slow.',
    queries: quantiles((share) => quantile(share, 'filer_exporter_request_duration_seconds', ['api']), ' {{api}}'),
    steps: above(5, 20),
    width: 12,
  }),
  chart({
    title: 'Slowest operations, p90',
    description:
      'The operations that take longest. If one takes much longer than the others, give it a longer interval.',
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
      'Values that were dropped or corrected, by reason. absent is normal: an appliance does not have the value. If invalid or record appears after an update of the service, report it.',
    queries: {
      expr: `round(sum by (api, reason) (increase(${select('filer_exporter_samples_dropped_total')}[$__rate_interval])))`,
      legend: '{{api}} {{reason}}',
    },
    width: 12,
  }),
  chart({
    title: 'Events lost or forgotten',
    description:
      'Events that never arrived, and evicted events. Missed: another program uses the same client key, or responses were lost. Evicted: there are more events than the memory allows.',
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
