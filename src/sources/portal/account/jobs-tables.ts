import type { Family, Table } from '../../../metrics/family.ts';
import { date, records } from '../../../metrics/units.ts';

export const jobsListed = {
  name: 'filer_jobs',
  help: 'Jobs in the list of the portal, by resource, action and state.',
  from: records,
  fields: { id: {} },
  wordsFrom: { resource: { field: 'resource' }, action: { field: 'action' }, state: { field: 'state' } },
} as const satisfies Family;

/** Counts every finished job once. */
export const jobsFinished = {
  name: 'filer_jobs_finished_total',
  help: 'Jobs finished since the exporter started, by resource, action and state.',
  type: 'counter',
  from: records,
  fields: { id: {} },
  wordsFrom: { resource: { field: 'resource' }, action: { field: 'action' }, state: { field: 'state' } },
} as const satisfies Family;

export const jobsUnacknowledged = {
  name: 'filer_jobs_failed_unacknowledged',
  help: 'Failed jobs without an acknowledgement, by resource and action.',
  from: records,
  fields: { user_acknowledged_at: {} },
  wordsFrom: { resource: { field: 'resource' }, action: { field: 'action' } },
} as const satisfies Family;

export const oldestUnfinishedJob = {
  name: 'filer_job_oldest_unfinished_timestamp_seconds',
  help: 'Creation time of the oldest unfinished job, by resource; missing if every job is finished.',
  from: date,
  fields: { created_at: {} },
  wordsFrom: { resource: { field: 'resource' } },
} as const satisfies Family;

export const jobTables: readonly Table[] = [
  {
    source: 'GET /jobs',
    subject: [],
    families: [jobsListed, jobsFinished, jobsUnacknowledged, oldestUnfinishedJob],
  },
];
