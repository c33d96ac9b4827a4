import type { Family, Table } from '../../../metrics/family.ts';
import { wordOf } from '../../../metrics/samples.ts';
import { date, records } from '../../../metrics/units.ts';

const SEVERITY = { field: 'severity', known: ['ALERT', 'ERROR', 'WARNING', 'INFO', 'ADMIN'] } as const;

/** The words of `severity` (upstream-api.md 5.7), as labels. */
export const SEVERITIES: readonly string[] = SEVERITY.known.map(wordOf);

/** Every notification, once, by all that tells notifications apart. */
export const notificationsTotal = {
  name: 'filer_notifications_total',
  help: 'Notifications generated since the exporter started, by what they are about; appliance and volume may be empty.',
  type: 'counter',
  from: records,
  fields: { id: {} },
  wordsFrom: { severity: SEVERITY, category: { field: 'category' }, sub_category: { field: 'sub_category' } },
  labelsFrom: { filer: 'appliance_name', volume: 'volume_name' },
} as const satisfies Family;

/** Every notification, once, by its severity alone: these series are there from the start, so no first one is missed. */
export const notificationsBySeverity = {
  name: 'filer_notifications_by_severity_total',
  help: 'Notifications generated since the exporter started, by severity; there from the start, so increase() misses none.',
  type: 'counter',
  from: records,
  fields: { id: {} },
  wordsFrom: { severity: SEVERITY },
} as const satisfies Family;

/** The newest notification of each severity. */
export const latestNotification = {
  name: 'filer_notification_latest_timestamp_seconds',
  help: 'When the newest notification that was seen was generated, by severity.',
  from: date,
  fields: { generated_at: {} },
  wordsFrom: { severity: SEVERITY },
} as const satisfies Family;

/** What the collector `notifications` exports. */
export const notificationTables: readonly Table[] = [
  {
    source: 'GET /notifications',
    subject: [],
    families: [notificationsTotal, notificationsBySeverity, latestNotification],
  },
];
