import type { Family, Table } from '../../../metrics/family.ts';
import { date, records } from '../../../metrics/units.ts';

/** The jobs that are listed. */
export const jobsListed = {
  name: 'filer_jobs',
  help: 'Jobs that the portal lists, by resource, action and state.',
  from: records,
  fields: { id: {} },
  wordsFrom: { resource: { field: 'resource' }, action: { field: 'action' }, state: { field: 'state' } },
} as const satisfies Family;

/** Every job that ended, once. */
export const jobsFinished = {
  name: 'filer_jobs_finished_total',
  help: 'Jobs that ended since the exporter started, by resource, action and state.',
  type: 'counter',
  from: records,
  fields: { id: {} },
  wordsFrom: { resource: { field: 'resource' }, action: { field: 'action' }, state: { field: 'state' } },
} as const satisfies Family;

/** The failed jobs that nobody has acknowledged. */
export const jobsUnacknowledged = {
  name: 'filer_jobs_failed_unacknowledged',
  help: 'Failed jobs without an acknowledgement, by resource and action.',
  from: records,
  fields: { user_acknowledged_at: {} },
  wordsFrom: { resource: { field: 'resource' }, action: { field: 'action' } },
} as const satisfies Family;

/** The job that has waited longest for its end. */
export const oldestUnfinishedJob = {
  name: 'filer_job_oldest_unfinished_timestamp_seconds',
  help: 'When the oldest job that has not ended was created, by resource; its age is time() less this. Missing when all have.',
  from: date,
  fields: { created_at: {} },
  wordsFrom: { resource: { field: 'resource' } },
} as const satisfies Family;

/** What the collector `jobs` exports. */
export const jobTables: readonly Table[] = [
  {
    source: 'GET /jobs',
    subject: [],
    families: [jobsListed, jobsFinished, jobsUnacknowledged, oldestUnfinishedJob],
  },
];
