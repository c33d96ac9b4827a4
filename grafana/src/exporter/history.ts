import { chart } from '../charts.ts';
import { number } from '../numbers.ts';
import { select } from '../select.ts';
import { above, noneExpected } from '../steps.ts';

const rate = (metric: string, by: string) => `sum by (${by}) (rate(${select(metric)}[$__rate_interval]))`;

/** What remote write delivers. */
export const historyPanels = [
  number({
    title: 'Delivered up to',
    description:
      'Age of the newest point that the receiver of remote write has. Appliances report every five minutes, so up to ten minutes are normal. Above 20 minutes, see the responses of the receiver. Empty without remote write.',
    queries: {
      expr: `time() - max(${select('filer_exporter_remote_write_newest_timestamp_seconds')})`,
      legend: 'newest',
    },
    steps: above(1200, 3600),
    width: 8,
    empty: 'remote write is off',
  }),
  number({
    title: 'Waiting points',
    description: 'Points waiting to be sent, at most 200,000. They grow while the receiver fails.',
    queries: { expr: `sum(${select('filer_exporter_remote_write_waiting_points')})`, legend: 'waiting' },
    width: 8,
    empty: 'remote write is off',
  }),
  number({
    title: 'History lost in a day',
    description:
      'Time of all series that could not be read, by reason. Set a longer REMOTE_WRITE_CATCH_UP if outages last longer.',
    queries: {
      expr: `sum by (reason) (increase(${select('filer_exporter_remote_write_lost_seconds_total')}[1d]))`,
      legend: '{{reason}}',
    },
    steps: noneExpected,
    width: 8,
    empty: 'remote write is off',
  }),
  chart({
    title: 'Points sent and dropped',
    description:
      'Accepted points, and dropped ones by reason. Dropped as too_old: the receiver needs a wider out_of_order_time_window.',
    queries: [
      { expr: `sum(rate(${select('filer_exporter_remote_write_points_total')}[$__rate_interval]))`, legend: 'sent' },
      { expr: rate('filer_exporter_remote_write_dropped_points_total', 'reason'), legend: '{{reason}}' },
    ],
    width: 12,
    empty: 'remote write is off',
  }),
  chart({
    title: 'Responses of the receiver',
    description:
      'Requests of remote write by status. Network or 5xx: the receiver fails, and the points are sent again later. A single 400 after a kill is normal.',
    queries: { expr: rate('filer_exporter_remote_write_requests_total', 'code'), legend: '{{code}}' },
    width: 12,
    empty: 'remote write is off',
  }),
];
