import { isFields } from '../../../metrics/family.ts';
import { keptNumber } from '../../../metrics/restored-values.ts';
import { type NoteDrop, type Sample, text } from '../../../metrics/samples.ts';
import { dateSeconds } from '../../../metrics/units.ts';
import type { CountingStart } from '../../../runtime/counting-start.ts';
import type { KeptCounts } from '../collector-row.ts';
import { listed } from '../records.ts';
import { NotificationCounts, type NotificationCountsState } from './notification-counts.ts';

/** How far before the newest notification the next request begins, in seconds: a notification may be listed late. */
const OVERLAP_SECONDS = 900;

/** The service accepts at most 30 days; a minute less, in case its clock differs. */
const LONGEST_RANGE_SECONDS = 30 * 86_400 - 60;

/**
 * Counts each notification once. Each request begins a little before the newest known notification, and known ids are
 * remembered as long as they can arrive again. Notifications from before the start of the exporter are not counted.
 * Progress is measured by the times of the notifications, never by this machine's clock, which may be set.
 */
export class NotificationLedger implements KeptCounts {
  /** Only notifications generated from here on are counted. */
  readonly #start: CountingStart;
  #counts = new NotificationCounts();
  /** The newest notification of all complete rounds, in Unix seconds; undefined while there was none. */
  #mark: number | undefined;
  /** The newest notification of this round. */
  #newest = Number.NEGATIVE_INFINITY;

  constructor(start: CountingStart) {
    this.#start = start;
  }

  /** Where the next request begins, in Unix seconds. */
  from(now: number): number {
    const reached = this.#mark ?? this.#start.seconds;
    return Math.max(Math.min(reached, now) - OVERLAP_SECONDS, now - LONGEST_RANGE_SECONDS);
  }

  /** Adds one page. */
  *absorb(page: unknown, note: NoteDrop): Generator<void> {
    for (const record of listed(page, 'GET /notifications', note)) {
      const id = text(record.id);
      const at = dateSeconds(record.generated_at) ?? dateSeconds(record.created_at);
      if (id === '' || at === undefined) note('record', id === '' ? 'id' : 'generated_at');
      // One from before the start creates its series with the value 0. Evicted ones may arrive again after a clock was
      // set back.
      else if (at >= this.#forgotten && this.#counts.take(record, id, at, this.#start.includes(at))) {
        this.#newest = Math.max(this.#newest, at);
      }
      yield;
    }
  }

  /** All pages have been read: the next round begins where this one ended. */
  ended(now: number): void {
    if (!this.#start.isKnown) return;
    // A time in the future would hide everything before it.
    const reached = Math.min(this.#newest, now);
    if (reached > (this.#mark ?? Number.NEGATIVE_INFINITY)) this.#mark = reached;
    this.#counts.forgetBefore(this.#forgotten);
  }

  /** The samples so far. */
  samples(): Sample[] {
    return this.#counts.samples();
  }

  state(): NotificationState {
    return { ...this.#start.state(), mark: this.#mark ?? null, ...this.#counts.state() };
  }

  restore(saved: unknown, elapsedMs: number): () => void {
    if (!isFields(saved)) throw new TypeError('state file: expected notifications');
    const { ageMs = 0, since, mark, ...kept } = saved as unknown as NotificationState;
    const counts = NotificationCounts.of(kept);
    const reached = mark === null ? undefined : keptNumber(mark);
    // The pause is longer than the longest period of a request, or a clock was wrong: notifications from meanwhile are
    // not new.
    const isLost = elapsedMs > LONGEST_RANGE_SECONDS * 1000;
    const start = {
      ageMs: isLost ? 0 : keptNumber(ageMs, 0) + elapsedMs,
      since: isLost || since === null ? null : keptNumber(since),
    };
    return () => {
      this.#counts = counts;
      this.#mark = reached;
      this.#start.restore(start);
    };
  }

  /** Older notifications are known and may be forgotten, in Unix seconds: no request covers them again. */
  get #forgotten(): number {
    return (this.#mark ?? Number.NEGATIVE_INFINITY) - 2 * OVERLAP_SECONDS;
  }
}

/** A notification ledger as saved in the state file. */
export interface NotificationState extends NotificationCountsState {
  /** How long ago counting began; missing in state files of earlier versions. */
  readonly ageMs?: number;
  /** The earliest counted notification, in Unix seconds. */
  readonly since: number | null;
  readonly mark: number | null;
}
