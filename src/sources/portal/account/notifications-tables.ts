import type { Family, Table } from '../../../metrics/family.ts';
import { wordOf } from '../../../metrics/samples.ts';
import { date, records } from '../../../metrics/units.ts';

const SEVERITY = { field: 'severity', known: ['ALERT', 'ERROR', 'WARNING', 'INFO', 'ADMIN'] } as const;

/** Values of `severity` (upstream-api.md 5.7), as labels. */
export const SEVERITIES: readonly string[] = SEVERITY.known.map(wordOf);

/** Counts every notification once, with all labels. */
export const notificationsTotal = {
  name: 'filer_notifications_total',
  help: 'Notifications generated since the exporter started, by origin, severity, appliance and volume; appliance and volume may be empty.',
  type: 'counter',
  from: records,
  fields: { id: {} },
  wordsFrom: { severity: SEVERITY, category: { field: 'category' }, sub_category: { field: 'sub_category' } },
  labelsFrom: { filer: 'appliance_name', volume: 'volume_name' },
} as const satisfies Family;

/**
 * Counts every notification once, by severity only: these series exist from the start, so increase() sees the first one
 * too.
 */
export const notificationsBySeverity = {
  name: 'filer_notifications_by_severity_total',
  help: 'Notifications generated since the exporter started, by severity. Every series exists from the start, so increase() misses none.',
  type: 'counter',
  from: records,
  fields: { id: {} },
  wordsFrom: { severity: SEVERITY },
} as const satisfies Family;

export const latestNotification = {
  name: 'filer_notification_latest_timestamp_seconds',
  help: 'Time of the newest notification, by severity.',
  from: date,
  fields: { generated_at: {} },
  wordsFrom: { severity: SEVERITY },
} as const satisfies Family;

export const notificationTables: readonly Table[] = [
  {
    source: 'GET /notifications',
    subject: [],
    families: [notificationsTotal, notificationsBySeverity, latestNotification],
  },
];
