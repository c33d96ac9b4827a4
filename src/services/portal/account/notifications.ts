import { inPieces, type Kept, type Restoration } from '../../../contract/kept.ts';
import { type Family, type JsonObject, OTHER } from '../../../metrics/family.ts';
import { LabelledCounter, type SavedCount } from '../../../metrics/labelled-counter.ts';
import { believedTime } from '../../../metrics/reported-time.ts';
import { enumLabelValue, labelValue, type ReportDrop, type Sample } from '../../../metrics/samples.ts';
import { SeenIds } from '../../../metrics/seen-ids.ts';
import { date, parseDateSeconds, recordOne } from '../../../metrics/units.ts';
import { CountingStart, type CountingStartState } from '../../../runtime/counting-start.ts';
import type { CollectorDefinition } from '../collector-definition.ts';

export const SEVERITY = {
  field: 'severity',
  documentedValues: ['ALERT', 'ERROR', 'WARNING', 'INFO', 'ADMIN'],
} as const;

const SEVERITIES: readonly string[] = SEVERITY.documentedValues.map(enumLabelValue);

const notificationsTotal = {
  name: 'filer_notifications_total',
  help: 'Notifications generated since the exporter started, by origin, severity, appliance and volume; appliance and volume may be empty.',
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

/** The most ids to remember. Above it the oldest are evicted, and count again if they arrive again. */
const MAX_REMEMBERED = 50_000;

/** How far before the newest notification the next request begins, in seconds: a notification may be listed late. */
const OVERLAP_SECONDS = 900;

/** The service accepts at most 30 days; a minute less, in case its clock differs. */
const MAX_RANGE_SECONDS = 30 * 86_400 - 60;

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
  sampleCounts: { account: 40 },
  reads: ({ client, kept }) => {
    const ledger = new NotificationLedger(new CountingStart(client.serviceClock));
    kept.push(ledger);
    return [
      {
        path: '/notifications',
        paged: 'continued',
        query: () => ({
          start_date: new Date(ledger.from(client.now() / 1000) * 1000).toISOString(),
          // Oldest first: if a round ends early, the next one continues from there.
          sort_by: 'generated_at',
          sort_direction: 'asc',
          include_count: 'false',
        }),
        async read({ records, reportDrop }) {
          for await (const record of records) ledger.take(record, reportDrop);
          ledger.finishQuery(client.now() / 1000);
          return ledger.samples();
        },
      },
    ];
  },
};

/**
 * Counts each notification once. Each request begins a little before the newest known notification, and known ids are
 * remembered as long as they can arrive again. Notifications from before the start of the exporter are not counted.
 * Progress is measured by the times of the notifications, never by this machine's clock, which may be wrong.
 */
export class NotificationLedger implements Kept {
  readonly part = 'portal/notifications';
  readonly #start: CountingStart;
  #counts = noCounts();
  /** The newest notification of all complete rounds, in Unix seconds; undefined while there was none. */
  #highWaterMark: number | undefined;
  #newest = Number.NEGATIVE_INFINITY;

  constructor(start: CountingStart) {
    this.#start = start;
  }

  from(now: number): number {
    const reached = this.#highWaterMark ?? this.#start.seconds;
    return Math.max(Math.min(reached, now) - OVERLAP_SECONDS, now - MAX_RANGE_SECONDS);
  }

  take(record: JsonObject, note: ReportDrop): void {
    const { total, bySeverity, latest, seen } = this.#counts;
    const id = labelValue(record.id);
    const at = parseDateSeconds(record.generated_at) ?? parseDateSeconds(record.created_at);
    if (id === '' || at === undefined) {
      note('record', id === '' ? 'id' : 'generated_at');
      return;
    }
    if (!seen.admit(id, at)) return;
    this.#newest = Math.max(this.#newest, at);
    const told = enumLabelValue(record.severity);
    const severity = SEVERITIES.find((word) => word === told) ?? OTHER;
    latest.set(severity, Math.max(at, latest.get(severity) ?? at));
    // One from before the start creates its series with the value 0.
    const by = this.#start.includes(at) ? 1 : 0;
    total.add(record, by);
    bySeverity.add(record, by);
  }

  /** All pages have been read: the next round begins where this one ended. */
  finishQuery(now: number): void {
    if (!this.#start.isKnown) return;
    const reached = believedTime(this.#newest, now);
    if (reached > (this.#highWaterMark ?? Number.NEGATIVE_INFINITY)) this.#reach(reached);
  }

  /** Far older ones are known, and no request covers them again. */
  #reach(mark: number): void {
    this.#highWaterMark = mark;
    this.#counts.seen.forgetBefore(mark - 2 * OVERLAP_SECONDS);
  }

  samples(): Sample[] {
    const { total, bySeverity, latest } = this.#counts;
    return [
      ...total.samples(),
      ...bySeverity.samples(),
      ...[...latest].map(([severity, value]) => ({ name: latestNotification.name, labels: { severity }, value })),
    ];
  }

  *changes(): Generator<unknown> {
    const { total, bySeverity, seen } = this.#counts;
    yield* this.#pieces(total.takeChanged(), bySeverity.takeChanged(), seen.takeAdded());
  }

  *all(): Generator<unknown> {
    const { total, bySeverity, seen } = this.#counts;
    yield* this.#pieces(total.all(), bySeverity.all(), seen.all());
  }

  restore(_: number, elapsedMs: number): Restoration {
    const counts = noCounts();
    let state: SavedStart | undefined;
    return {
      put: (piece) => {
        const { start, seen = [], total = [], bySeverity = [] } = piece as Piece;
        state = start ?? state;
        for (const [id, at] of seen) counts.seen.admit(id, at);
        for (const count of total) counts.total.restore(count);
        for (const count of bySeverity) counts.bySeverity.restore(count);
      },
      commit: () => {
        if (state === undefined) return;
        const { ageMs, since, mark, latest } = state;
        this.#counts = { ...counts, latest: new Map(latest) };
        if (mark !== null) this.#reach(mark);
        // The pause is longer than the longest period of a request, or a clock was wrong: notifications from meanwhile
        // are not new.
        const isLost = elapsedMs > MAX_RANGE_SECONDS * 1000;
        this.#start.restore(isLost ? { ageMs: 0, since: null } : { ageMs: ageMs + elapsedMs, since });
      },
    };
  }

  *#pieces(
    total: Iterable<SavedCount>,
    bySeverity: Iterable<SavedCount>,
    seen: Iterable<readonly [id: string, at: number]>,
  ): Generator<unknown> {
    const { latest } = this.#counts;
    const start: SavedStart = { ...this.#start.state(), mark: this.#highWaterMark ?? null, latest: [...latest] };
    yield { start };
    yield* inPieces('total', total);
    yield* inPieces('bySeverity', bySeverity);
    yield* inPieces('seen', seen);
  }
}

/** Written with every change, because its age grows. */
interface SavedStart extends CountingStartState {
  /** In Unix seconds. */
  readonly mark: number | null;
  readonly latest: readonly (readonly [severity: string, at: number])[];
}

interface Piece {
  readonly start?: SavedStart;
  readonly seen?: readonly (readonly [id: string, at: number])[];
  readonly total?: readonly SavedCount[];
  readonly bySeverity?: readonly SavedCount[];
}

function noCounts() {
  return {
    total: new LabelledCounter(notificationsTotal),
    bySeverity: new LabelledCounter(notificationsBySeverity),
    latest: new Map<string, number>(),
    seen: new SeenIds(MAX_REMEMBERED),
  };
}
