import type { SavedPart } from '../../../contract/saved-part.ts';
import { type Family, type JsonObject, OTHER } from '../../../metrics/family.ts';
import { LabelledCounter } from '../../../metrics/labelled-counter.ts';
import { believedTime } from '../../../metrics/reported-time.ts';
import { enumLabelValue, labelValue, type ReportDrop, type Sample } from '../../../metrics/samples.ts';
import { date, parseDateSeconds, recordOne } from '../../../metrics/units.ts';
import { type CountingClock, CountingStart, type CountingStartState } from '../../../runtime/counting-start.ts';
import { type SavedIds, SeenIds } from '../../../runtime/seen-ids.ts';
import type { CollectorDefinition } from '../collector-definition.ts';

export const SEVERITY = {
  field: 'severity',
  documentedValues: ['ALERT', 'ERROR', 'WARNING', 'INFO', 'ADMIN'],
} as const;

const SEVERITIES: readonly string[] = SEVERITY.documentedValues.map(enumLabelValue);

const notificationsTotal = {
  name: 'filer_notifications_total',
  help: 'Notifications generated since the exporter started, by severity, category, sub-category, appliance and volume. Appliance and volume may be empty.',
  type: 'counter',
  from: recordOne,
  fields: { id: {} },
  enumLabels: { severity: SEVERITY, category: { field: 'category' }, sub_category: { field: 'sub_category' } },
  fieldLabels: { filer: 'appliance_name', volume: 'volume_name' },
} as const satisfies Family;

const notificationsBySeverity = {
  name: 'filer_notifications_by_severity_total',
  help: 'Notifications generated since the exporter started, by severity. Every series exists from the start, so increase() misses none.',
  type: 'counter',
  from: recordOne,
  fields: { id: {} },
  enumLabels: { severity: SEVERITY },
} as const satisfies Family;

const latestNotification = {
  name: 'filer_notification_latest_timestamp_seconds',
  help: 'Time of the newest notification, by severity.',
  from: date,
  fields: { generated_at: {} },
  enumLabels: { severity: SEVERITY },
} as const satisfies Family;

/** The most ids that are remembered. Beyond it those delivered longest ago are evicted, and count again if they arrive again. */
const MAX_REMEMBERED = 50_000;

/** The next request begins this long before the newest notification, because a notification may be listed late. */
const OVERLAP_SECONDS = 900;

/** The service accepts at most 30 days. The request is a minute shorter, in case the clocks differ. */
const MAX_RANGE_SECONDS = 30 * 86_400 - 60;

/** How long an id is remembered: if the clock of the service is corrected, a query may cover all that it accepts. */
const KEEP_MS = 31 * 86_400_000;

export const notifications: CollectorDefinition = {
  name: 'notifications',
  intervalMs: 300_000,
  tables: [
    {
      source: 'GET /notifications',
      commonLabels: [],
      families: [notificationsTotal, notificationsBySeverity, latestNotification],
    },
  ],
  reads: [
    {
      path: '/notifications',
      paged: 'continued',
      create({ client, savedParts }) {
        const ledger = new NotificationLedger(client.serviceClock);
        savedParts.push(ledger);
        return {
          query: () => ({
            start_date: new Date(ledger.startOfQuery(client.now() / 1000) * 1000).toISOString(),
            // Oldest first, so that if a poll ends early, the next one continues there.
            sort_by: 'generated_at',
            sort_direction: 'asc',
            include_count: 'false',
          }),
          async read({ records, reportDrop }) {
            for await (const record of records) ledger.add(record, reportDrop);
            ledger.finishQuery(client.now() / 1000);
            return ledger.samples();
          },
        };
      },
    },
  ],
};

/**
 * Counts each notification once. Each request begins a little before the newest known notification. Notifications from
 * before the start of the exporter are not counted. Progress is measured by the times of the notifications, never by this
 * machine's clock, which may be wrong.
 */
export class NotificationLedger implements SavedPart {
  readonly name = 'portal/notifications';
  readonly #clock: CountingClock;
  readonly #start: CountingStart;
  #counts = emptyCounts();
  /** The newest notification of all complete queries, in Unix seconds; undefined before the first. */
  #highWaterMark: number | undefined;
  #newest = Number.NEGATIVE_INFINITY;
  /** Whether a query has been read completely: what is older than the start and arrives later is reported. */
  #hasQueried = false;

  constructor(clock: CountingClock) {
    this.#clock = clock;
    this.#start = new CountingStart(clock);
  }

  /** Called at the beginning of a query; `now` in Unix seconds by the service's clock. */
  startOfQuery(now: number): number {
    this.#counts.seen.begin(this.#clock.monotonic());
    const reached = this.#highWaterMark ?? this.#start.seconds;
    return Math.max(believedTime(reached, now) - OVERLAP_SECONDS, now - MAX_RANGE_SECONDS);
  }

  add(record: JsonObject, reportDrop: ReportDrop): void {
    const { total, bySeverity, latest, seen } = this.#counts;
    const id = labelValue(record.id);
    const at = parseDateSeconds(record.generated_at) ?? parseDateSeconds(record.created_at);
    if (id === '' || at === undefined) {
      reportDrop('record', id === '' ? 'id' : 'generated_at');
      return;
    }
    const delivery = seen.deliver(id);
    if (delivery === 'full') reportDrop('full', 'id');
    if (delivery !== 'unknown') return;
    this.#newest = Math.max(this.#newest, at);
    const reportedSeverity = enumLabelValue(record.severity);
    const severity = SEVERITIES.find((word) => word === reportedSeverity) ?? OTHER;
    latest.set(severity, Math.max(at, latest.get(severity) ?? at));
    // A notification from before the start creates its series with the value 0.
    const isCounted = this.#start.includes(at);
    if (!isCounted && this.#hasQueried) reportDrop('late', 'generated_at');
    total.add(record, isCounted ? 1 : 0);
    bySeverity.add(record, isCounted ? 1 : 0);
  }

  /** Called after all pages have been read: the next query begins where this one ended. A time ahead of the clock counts as now. */
  finishQuery(now: number): void {
    const { latest, seen } = this.#counts;
    this.#hasQueried = true;
    seen.forget();
    if (!this.#start.isKnown) return;
    for (const [severity, at] of latest) latest.set(severity, believedTime(at, now));
    this.#newest = believedTime(this.#newest, now);
    if (Number.isFinite(this.#newest)) this.#highWaterMark = this.#newest;
  }

  samples(): Sample[] {
    const { total, bySeverity, latest } = this.#counts;
    return [
      ...total.samples(),
      ...bySeverity.samples(),
      ...[...latest].map(([severity, value]) => ({ name: latestNotification.name, labels: { severity }, value })),
    ];
  }

  save(): SavedNotifications {
    const { latest, seen } = this.#counts;
    return {
      start: this.#start.state(),
      mark: this.#highWaterMark ?? null,
      latest: [...latest],
      seen: seen.save(),
    };
  }

  restore(saved: unknown, shiftMs: number, elapsedMs: number): void {
    const { start, mark, latest, seen } = saved as SavedNotifications;
    const counts = { ...emptyCounts(), latest: new Map(latest) };
    counts.seen.restore(seen, shiftMs, this.#clock.monotonic());
    this.#counts = counts;
    this.#hasQueried = true;
    this.#highWaterMark = mark ?? undefined;
    this.#newest = mark ?? Number.NEGATIVE_INFINITY;
    // If the pause was longer than a request can cover, counting starts anew.
    const isLost = elapsedMs > MAX_RANGE_SECONDS * 1000;
    this.#start.restore(isLost ? { ageMs: 0, since: null } : { ...start, ageMs: start.ageMs + elapsedMs });
  }
}

interface SavedNotifications {
  readonly start: CountingStartState;
  /** In Unix seconds. */
  readonly mark: number | null;
  readonly latest: readonly (readonly [severity: string, at: number])[];
  readonly seen: readonly SavedIds[];
}

function emptyCounts() {
  return {
    total: new LabelledCounter(notificationsTotal),
    bySeverity: new LabelledCounter(notificationsBySeverity),
    latest: new Map<string, number>(),
    seen: new SeenIds(MAX_REMEMBERED, KEEP_MS),
  };
}
