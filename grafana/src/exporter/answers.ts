import { chart } from '../charts.ts';
import { quantile, select } from '../select.ts';
import { above, noneExpected, plain } from '../steps.ts';

const requests = 'filer_exporter_requests_total';

/** What the services answer, and how fast. */
export const answerPanels = [
  chart({
    title: 'Answers by code',
    description:
      'Answers per second by HTTP status, or timeout, network, invalid, oversize. 401: the key; 403: a right or the licence; 404 and 422: what an appliance does not have; 5xx and timeout: the service.',
    queries: [
      {
        expr: `sum by (api, code) (rate(${select(requests)}[$__rate_interval]))`,
        legend: '{{api}} {{code}}',
      },
    ],
    steps: plain,
    width: 12,
    stacked: true,
  }),
  chart({
    title: 'Share of requests that failed',
    description:
      'Requests that got neither a 2xx nor a plain “not there”. Above 5 % for long: see which code it is, then key, rights, network or the service.',
    queries: [
      {
        expr: `sum by (api) (rate(${select(requests, { code: '!~"2..|404|422"' })}[$__rate_interval])) / sum by (api) (rate(${select(requests)}[$__rate_interval])) or 0 * sum by (api) (rate(${select(requests)}[$__rate_interval]))`,
        legend: '{{api}}',
      },
    ],
    steps: above(0.05, 0.25),
    width: 12,
    toOne: true,
  }),
  chart({
    title: 'Time to the whole answer',
    description:
      'Half, nine tenths and 99 of 100 requests were at least so quick. When they near REQUEST_TIMEOUT, requests begin to fail: the service is slow, or the line.',
    queries: [0.5, 0.9, 0.99].map((share) => ({
      expr: quantile(share, 'filer_exporter_request_duration_seconds', { window: '$__rate_interval', by: ['api'] }),
      legend: `p${share * 100} {{api}}`,
    })),
    steps: above(5, 20),
    width: 12,
  }),
  chart({
    title: 'Slowest operations, p90',
    description: 'Which operations take longest. One that stands out may deserve an interval of its own.',
    queries: [
      {
        expr: `topk(10, ${quantile(0.9, 'filer_exporter_request_duration_seconds', { window: '$__rate_interval', by: ['api', 'operation'] })})`,
        legend: '{{api}} {{operation}}',
      },
    ],
    steps: above(5, 20),
    width: 12,
  }),
  chart({
    title: 'Values that gave no sample',
    description:
      'Values dropped or mended in a few minutes around each moment, by reason. absent is what an appliance does not have; invalid and record that appear with an update of the service are worth a bug report.',
    queries: [
      {
        expr: `round(sum by (api, reason) (increase(${select('filer_exporter_samples_dropped_total')}[$__rate_interval])))`,
        legend: '{{api}} {{reason}}',
      },
    ],
    steps: plain,
    width: 12,
  }),
  chart({
    title: 'Events lost or forgotten',
    description:
      'Newest events that never came, and events evicted, in a few minutes around each moment. Missed ones: another instance on the same client key, or lost answers. Forgotten ones: more filers than the memory is made for.',
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
