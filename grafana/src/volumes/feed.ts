import { chart } from '../charts.ts';
import { more } from '../places.ts';
import { select } from '../select.ts';
import { plain } from '../steps.ts';

const asked = `max by (job, instance) (${select('filer_gfa_request_timestamp_seconds')})`;
const behind = (timestamp: string) => `${asked} - max by (job, instance) (${select(timestamp)})`;

/** How far the file acceleration feed lies behind, by its own clock. */
export const feedPanels = [
  chart({
    title: 'How far the feed lies behind',
    description:
      'Time from the newest record, lock event and propagation event that the service knows to the moment it was asked, by its own clock. Records follow each other within a minute or so; events only come while people work.',
    queries: [
      { expr: behind('filer_gfa_last_info_timestamp_seconds'), legend: 'filers and volumes, {{instance}}' },
      { expr: behind('filer_gfa_last_lock_event_timestamp_seconds'), legend: 'locks, {{instance}}' },
      { expr: behind('filer_gfa_last_propagation_timestamp_seconds'), legend: 'propagation, {{instance}}' },
    ],
    steps: plain,
    width: 12,
    links: [more('exporter')],
  }),
  chart({
    title: 'Time since the service was asked',
    description:
      'Time since the service handled the latest poll, by its clock and Prometheus’s. It saws up to the poll interval; when it climbs on, polls fail. A saw that begins far from zero is a clock that is wrong.',
    queries: [{ expr: `time() - ${asked}`, legend: '{{instance}}' }],
    steps: plain,
    width: 12,
    links: [more('exporter')],
  }),
];
