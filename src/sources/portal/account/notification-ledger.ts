import { type Fields, OTHER } from '../../../metrics/family.ts';
import { type NoteDrop, type Sample, text } from '../../../metrics/samples.ts';
import { Seen, type SeenState } from '../../../metrics/seen.ts';
import { Tally, type TallyState } from '../../../metrics/tally.ts';
import { dateSeconds } from '../../../metrics/units.ts';
import type { KeptCounts } from '../collector-row.ts';
import { listed } from '../records.ts';
import { latestNotification, notificationsBySeverity, notificationsTotal } from './notifications-tables.ts';

/** The words of `severity` (upstream-api.md 5.7). */
const SEVERITIES = ['ALERT', 'ERROR', 'WARNING', 'INFO', 'ADMIN'] as const;

/** How far before the newest notification the next question begins, in seconds: one may be told late. */
const OVERLAP_SECONDS = 900;

/** The service takes no range above 30 days; a minute less, for its clock. */
const LONGEST_RANGE_SECONDS = 30 * 86_400 - 60;

/** Ids remembered at most. Past that the oldest are forgotten, and count again if they come again. */
const MOST_REMEMBERED = 50_000;

/**
 * Counts each notification once. The service is asked from a little before the newest one seen, and what was seen is
 * remembered by id for as long as it can come again. What was generated before the exporter started is not counted.
 */
export class NotificationLedger implements KeptCounts {
  readonly #total = new Tally([
    { name: 'severity', known: SEVERITIES },
    ...['category', 'sub_category', 'filer', 'volume'].map((name) => ({ name })),
  ]);
  readonly #bySeverity = new Tally([{ name: 'severity', known: SEVERITIES }]);
  /** By severity, in Unix seconds. */
  readonly #latest = new Map<string, number>();
  readonly #seen = new Seen(MOST_REMEMBERED);
  /** Only what was generated from here on is counted. */
  #since: number;
  /** The newest notification of all rounds that came to their end. */
  #mark: number;
  /** The newest notification of this round. */
  #newest: number;

  /** `startedAt`: Unix seconds. */
  constructor(startedAt: number) {
    this.#since = startedAt;
    this.#mark = startedAt;
    this.#newest = startedAt;
    for (const severity of [...SEVERITIES, OTHER]) this.#bySeverity.add([severity], 0);
  }

  /** Where the next question begins, in Unix seconds. */
  from(now: number): number {
    return Math.max(Math.min(this.#mark, now) - OVERLAP_SECONDS, now - LONGEST_RANGE_SECONDS);
  }

  /** Folds one page in. */
  *absorb(page: unknown, note: NoteDrop): Generator<void> {
    for (const record of listed(page, 'GET /notifications', note)) {
      const id = text(record.id);
      const at = dateSeconds(record.generated_at) ?? dateSeconds(record.created_at);
      if (id === '' || at === undefined) note('record', id === '' ? 'id' : 'generated_at');
      else if (this.#seen.admit(id, at)) this.#count(record, at);
      yield;
    }
  }

  /** All pages have been read: the next round begins where this one ended. */
  ended(now: number): void {
    // A date in the future would hide what comes until then.
    this.#mark = Math.max(this.#mark, Math.min(this.#newest, now));
    const horizon = this.from(now) - OVERLAP_SECONDS;
    this.#seen.forgetBefore(horizon);
  }

  /** What has been counted so far. */
  samples(): Sample[] {
    return [
      ...this.#total.samples(notificationsTotal.name),
      ...this.#bySeverity.samples(notificationsBySeverity.name),
      ...[...this.#latest].map(([severity, value]) => ({ name: latestNotification.name, labels: { severity }, value })),
    ];
  }

  /** What {@link NotificationLedger.restore} takes. */
  state(): NotificationState {
    return {
      since: this.#since,
      mark: this.#mark,
      seen: this.#seen.state(),
      total: this.#total.state(),
      bySeverity: this.#bySeverity.state(),
      latest: [...this.#latest],
    };
  }

  /** Goes on where another ledger was. */
  restore(state: unknown): void {
    // What is read back was written by state() and is whole: a state file that is not is never taken.
    const saved = state as NotificationState;
    this.#since = saved.since;
    this.#mark = saved.mark;
    this.#newest = saved.mark;
    this.#seen.restore(saved.seen);
    this.#total.restore(saved.total);
    this.#bySeverity.restore(saved.bySeverity);
    for (const [severity, at] of saved.latest) this.#latest.set(severity, at);
  }

  #count(record: Fields, at: number): void {
    this.#newest = Math.max(this.#newest, at);
    const told = text(record.severity);
    const severity = SEVERITIES.find((word) => word === told) ?? OTHER;
    this.#latest.set(severity, Math.max(at, this.#latest.get(severity) ?? at));
    // One from before the start makes its series, at zero.
    const by = at < this.#since ? 0 : 1;
    const { category, sub_category, appliance_name, volume_name } = record;
    this.#total.add([severity, text(category), text(sub_category), text(appliance_name), text(volume_name)], by);
    this.#bySeverity.add([severity], by);
  }
}

/** What a notification ledger holds, as kept over restarts. */
export interface NotificationState {
  readonly since: number;
  readonly mark: number;
  readonly seen: SeenState;
  readonly total: TallyState;
  readonly bySeverity: TallyState;
  readonly latest: readonly (readonly [severity: string, at: number])[];
}
