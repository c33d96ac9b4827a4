import type { Family } from '../../../metrics/family.ts';
import { enumLabelValue } from '../../../metrics/samples.ts';
import { booleanValue, date, recordOne } from '../../../metrics/units.ts';
import type { CollectorDefinition } from '../context.ts';

const SEVERITIES = ['ALERT', 'ERROR', 'WARNING', 'INFO', 'ADMIN'] as const;

const SEVERITY = { field: 'severity', documentedValues: SEVERITIES } as const;

const notificationsTotal = {
  name: 'filer_notifications_total',
  help: 'Notifications generated since the exporter started, by severity, category, sub-category, and appliance and volume if the notification names them.',
  type: 'counter',
  from: recordOne,
  fields: { id: {} },
  enumLabels: { severity: SEVERITY, category: { field: 'category' }, sub_category: { field: 'sub_category' } },
  fieldLabels: { filer: 'appliance_name', volume: 'volume_name' },
} as const satisfies Family;

const notificationsBySeverity = {
  name: 'filer_notifications_by_severity_total',
  help: 'Notifications generated since the exporter started, by severity, each of which exists from the start so that increase() misses none.',
  type: 'counter',
  from: recordOne,
  fields: { id: {} },
  enumLabels: { severity: { ...SEVERITY, zeros: true } },
} as const satisfies Family;

const latestNotification = {
  name: 'filer_notification_latest_timestamp_seconds',
  help: 'Time of the newest notification, by severity.',
  from: date,
  fields: { generated_at: {} },
  enumLabels: { severity: SEVERITY },
} as const satisfies Family;

export const notifications: CollectorDefinition = {
  name: 'notifications',
  intervalMs: 300_000,
  reads: [
    {
      path: '/notifications',
      // Oldest first, so that if a poll ends early, the next one continues there.
      paged: {
        query: { sort_by: 'generated_at', sort_direction: 'asc', include_count: 'false' },
        since: 'start_date',
      },
      events: {
        at: 'generated_at',
        counts: [notificationsTotal, notificationsBySeverity],
        latest: [latestNotification],
      },
    },
  ],
};

const STATES = ['in_progress', 'completed', 'failed'] as const;

/** The states of a finished job. An undocumented state does not count as finished. */
const FINISHED = ['completed', 'failed'] as const;

const RESOURCE = { field: 'resource', documentedValues: ['edge', 'volume', 'cloud_credential'] } as const;
const ACTION = { field: 'action' } as const;

const jobsListed = {
  name: 'filer_jobs',
  help: 'Jobs in the list of the portal, by resource, action and state.',
  from: recordOne,
  fields: { id: {} },
  enumLabels: { resource: RESOURCE, action: ACTION, state: { field: 'state', documentedValues: STATES, zeros: true } },
} as const satisfies Family;

const jobsUnacknowledged = {
  name: 'filer_jobs_failed_unacknowledged',
  help: 'Failed jobs without an acknowledgement, by resource and action.',
  from: booleanValue,
  fields: { user_acknowledged_at: {} },
  enumLabels: { resource: RESOURCE, action: ACTION },
} as const satisfies Family;

const oldestUnfinishedJob = {
  name: 'filer_job_oldest_unfinished_timestamp_seconds',
  help: 'Creation time of the oldest unfinished job, by resource; missing if every job is finished.',
  from: date,
  fields: { created_at: {} },
  enumLabels: { resource: RESOURCE },
} as const satisfies Family;

const jobsFinished = {
  name: 'filer_jobs_finished_total',
  help: 'Jobs finished since the exporter started, by resource, action and state.',
  type: 'counter',
  from: recordOne,
  fields: { id: {} },
  enumLabels: {
    resource: RESOURCE,
    action: ACTION,
    state: { field: 'state', documentedValues: FINISHED, zeros: true },
  },
} as const satisfies Family;

export const jobs: CollectorDefinition = {
  name: 'jobs',
  intervalMs: 300_000,
  reads: [
    {
      path: '/jobs',
      key: ['id'],
      prepare(job) {
        const state = enumLabelValue(job.state);
        const isAcknowledged = job.user_acknowledged_at !== null && job.user_acknowledged_at !== undefined;
        return {
          ...job,
          user_acknowledged_at: state === 'failed' && !isAcknowledged,
          created_at: state === 'in_progress' ? job.created_at : null,
          last_updated_at: job.last_updated_at ?? job.created_at,
        };
      },
      sum: [jobsListed, jobsUnacknowledged],
      min: [oldestUnfinishedJob],
      events: {
        at: 'last_updated_at',
        hasHappened: ({ state }) => FINISHED.some((finished) => finished === enumLabelValue(state)),
        counts: [jobsFinished],
      },
    },
  ],
};
