import { chart } from '../charts.ts';
import { once } from '../common.ts';
import { limits } from '../limits.ts';
import { none } from '../mappings.ts';
import { orNone } from '../nothing.ts';
import { table } from '../numbers.ts';
import { drillDown } from '../places.ts';
import { select, unscoped } from '../select.ts';
import { whilePolled } from '../service.ts';
import { noneExpected } from '../steps.ts';
import { worst } from '../worst.ts';

const failed = select('filer_jobs_failed_unacknowledged');

/** Shows the jobs and the notifications of the portal. */
export const workPanels = [
  chart({
    title: 'Oldest unfinished job',
    times: 'h',
    description:
      'Age of the oldest unfinished job, by resource. If it rises for hours, the job is stuck: its appliance may be unreachable.',
    queries: {
      expr: worst(10, `time() - min by (resource) (${select('filer_job_oldest_unfinished_timestamp_seconds')})`),
      legend: '{{resource}}',
    },
    steps: limits.jobAge,
    width: 12,
  }),
  chart({
    title: 'Jobs ended',
    description:
      'Jobs finished in the event window, by state. If jobs of one kind fail, check a right or a setting. If jobs of all kinds fail, check the appliance or the portal.',
    queries: {
      expr: `round(sum by (state) (${once(whilePolled('portal', `increase(${select('filer_jobs_finished_total')}[$window])`))}))`,
      legend: '{{state}}',
    },
    width: 12,
  }),
  table({
    title: 'Jobs that the portal lists',
    description:
      'Jobs by resource, action and state, and failed ones without an acknowledgement. Begin with the failed ones.',
    queries: { expr: `topk(50, max by (resource, action, state) (${select('filer_jobs')} > 0))`, legend: 'Jobs' },
    columns: [
      { label: 'action', title: 'Does' },
      { label: 'resource', title: 'Works on', width: 130 },
      { label: 'state', title: 'State', width: 110 },
    ],
    valueWidth: 112,
    width: 12,
  }),
  table({
    title: 'Failed, not acknowledged, by kind',
    description:
      'The failed jobs by resource and action. If many of one kind fail, they have one cause: read the newest of them in the portal.',
    queries: {
      expr: orNone(`topk(50, max by (resource, action) (${failed} > 0))`, failed, 'resource'),
      legend: 'Failed',
    },
    columns: [
      { label: 'resource', title: 'Works on' },
      { label: 'action', title: 'Does' },
    ],
    steps: noneExpected,
    width: 12,
    mappingsBy: { Failed: none },
    empty: 'not known, or the collector jobs is off',
  }),
  chart({
    title: 'Notifications by severity',
    description:
      'Notifications of the event window. Errors and alerts that come in a row are one cause reported many times: read the first of them in the portal.',
    queries: {
      expr: `round(sum by (severity) (${once(whilePolled('portal', `increase(${select('filer_notifications_by_severity_total')}[$window])`))}))`,
      legend: '{{severity}}',
    },
    width: 12,
    stacked: true,
  }),
  chart({
    title: 'Since the newest notification',
    times: 'h',
    description:
      'Time since the newest notification of each severity. If a severity appears for the first time in weeks, read its notification.',
    queries: {
      expr: `time() - max by (severity) (${select('filer_notification_latest_timestamp_seconds')})`,
      legend: '{{severity}}',
    },
    width: 12,
  }),
  table({
    title: 'Notifications by what they are about',
    description:
      'Notifications since the exporter started, the most frequent first. Check the appliance or volume at the top of the list.',
    queries: {
      expr: `topk(20, sum by (severity, category, sub_category, filer, volume) (${once(select('filer_notifications_total', unscoped('filer_notifications_total', {})))}))`,
      legend: 'Notifications',
    },
    columns: [
      { label: 'category', title: 'Category' },
      { label: 'sub_category', title: 'About', width: 200 },
      { label: 'severity', title: 'Severity', width: 90 },
      { label: 'filer', title: 'Appliance', width: 180, link: drillDown('appliance', 'filer', `$\{__value.text}`) },
      { label: 'volume', title: 'Volume', width: 180, link: drillDown('volumes', 'volume', `$\{__value.text}`) },
    ],
    valueWidth: 120,
    width: 24,
  }),
];
