import { chart } from '../charts.ts';
import { limits } from '../limits.ts';
import { number, table } from '../numbers.ts';
import { drillDown } from '../places.ts';
import { select } from '../select.ts';

const every = { filer: '=~".*"', volume: '=~".*"' };
const size = select('filer_volume_accessible_bytes', every);
const unprotected = select('filer_volume_unprotected_bytes', every);
const ofVolume = (gauge: string, offset = '') => `max by (volume_guid, volume) (${gauge}${offset})`;
const growth = `(${ofVolume(size)} - ${ofVolume(size, ' offset 7d')})`;
const largest = `topk(20, max by (volume) (${growth}))`;
const ofLargest = (query: string) => `max by (volume) (${query}) and on (volume) ${largest}`;
const indexed = select('filer_indexing_consumed_files');

/**
 * Shows how much data there is, how fast it grows, and when a limit is reached. This is for planning; no alert is about
 * it.
 */
export const growthPanels = [
  chart({
    title: 'Data of all volumes',
    description:
      'The data that can be reached in all volumes; the pale line is the same a week before. If the line is steeper than last week, somebody migrates or copies data: find out who.',
    queries: [
      { expr: `sum(${ofVolume(size)})`, legend: 'now' },
      { expr: `sum(${ofVolume(size, ' offset 7d')})`, legend: 'a week before' },
    ],
    width: 12,
    ofAll: true,
  }),
  chart({
    title: 'Unprotected data of all volumes',
    description:
      'The data that is only on appliances; the pale line is the same a week before. If it stays above last week, data is protected too slowly: see the dashboard Filers and volumes.',
    queries: [
      { expr: `sum(max by (serial, volume_guid) (${unprotected}))`, legend: 'now' },
      { expr: `sum(max by (serial, volume_guid) (${unprotected} offset 7d))`, legend: 'a week before' },
    ],
    width: 12,
    ofAll: true,
  }),
  table({
    title: 'Volumes that grow fastest',
    description:
      'The twenty volumes that have grown most in a week, with their size and their data that is not in the cloud. Compare with what their owners planned. Growth is known after the collector volumes has been on for a week.',
    queries: [
      { expr: largest, legend: 'Growth a week' },
      { expr: ofLargest(ofVolume(size)), legend: 'Size' },
      {
        expr: ofLargest(`sum by (volume) (max by (serial, volume_guid, volume) (${unprotected}))`),
        legend: 'Unprotected',
      },
    ],
    columns: [{ label: 'volume', title: 'Volume', link: drillDown('volumes', 'volume', `$\{__value.text}`) }],
    stepsBy: { Unprotected: limits.unprotectedBytes },
    valueWidth: 140,
    width: 16,
    sortedBy: [['Growth a week', 'down']],
    empty: 'not known yet',
  }),
  number({
    title: 'Index is full in',
    description:
      'Time until the files that may be indexed reach the limit of the subscription, at the growth of the last 30 days. It is shown after a week of data. Below a month, exclude volumes or extend the subscription.',
    queries: {
      expr: `(max(${select('filer_indexing_limit_files')}) - max(${indexed})) / (max(deriv(${indexed}[30d])) > 0) and on () ${indexed} offset 7d`,
      legend: 'at this growth',
    },
    width: 8,
    height: 8,
    empty: 'no growth, no limit, or less than a week of data',
  }),
];
