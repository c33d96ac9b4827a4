import { isFields } from '../../../metrics/family.ts';
import { keptNumber } from '../../../metrics/restored-values.ts';
import { type NoteDrop, type Sample, text } from '../../../metrics/samples.ts';
import { dateSeconds } from '../../../metrics/units.ts';
import type { Beginning } from '../../../runtime/beginning.ts';
import type { KeptCounts } from '../collector-row.ts';
import { listed } from '../records.ts';
import { NotificationCounts, type NotificationCountsState } from './notification-counts.ts';

/** How far before the newest notification the next question begins, in seconds: one may be told late. */
const OVERLAP_SECONDS = 900;

/** The service takes no range above 30 days; a minute less, for its clock. */
const LONGEST_RANGE_SECONDS = 30 * 86_400 - 60;

/**
 * Counts each notification once. The service is asked from a little before the newest one seen, and what was seen is
 * remembered by id for as long as it can come again. What was generated before the exporter started is not counted.
 * How far it has come is told by the times of the notifications, never by the clock of this machine, which may be set.
 */
export class NotificationLedger implements KeptCounts {
  /** Only what was generated from here on is counted. */
  readonly #beginning: Beginning;
  #counts = new NotificationCounts();
  /** The newest notification of all rounds that came to their end, in Unix seconds; undefined while there was none. */
  #mark: number | undefined;
  /** The newest notification of this round. */
  #newest = Number.NEGATIVE_INFINITY;

  constructor(beginning: Beginning) {
    this.#beginning = beginning;
  }

  /** Where the next question begins, in Unix seconds. */
  from(now: number): number {
    const reached = this.#mark ?? this.#beginning.seconds;
    return Math.max(Math.min(reached, now) - OVERLAP_SECONDS, now - LONGEST_RANGE_SECONDS);
  }

  /** Folds one page in. */
  *absorb(page: unknown, note: NoteDrop): Generator<void> {
    for (const record of listed(page, 'GET /notifications', note)) {
      const id = text(record.id);
      const at = dateSeconds(record.generated_at) ?? dateSeconds(record.created_at);
      if (id === '' || at === undefined) note('record', id === '' ? 'id' : 'generated_at');
      // One from before the start makes its series, at zero. What was forgotten may come when a clock was set back.
      else if (at >= this.#forgotten && this.#counts.take(record, id, at, this.#beginning.includes(at))) {
        this.#newest = Math.max(this.#newest, at);
      }
      yield;
    }
  }

  /** All pages have been read: the next round begins where this one ended. */
  ended(now: number): void {
    if (!this.#beginning.isKnown) return;
    // A date in the future would hide what comes until then.
    const reached = Math.min(this.#newest, now);
    if (reached > (this.#mark ?? Number.NEGATIVE_INFINITY)) this.#mark = reached;
    this.#counts.forgetBefore(this.#forgotten);
  }

  /** What has been counted so far. */
  samples(): Sample[] {
    return this.#counts.samples();
  }

  /** What {@link NotificationLedger.restore} takes. */
  state(): NotificationState {
    return { ...this.#beginning.state(), mark: this.#mark ?? null, ...this.#counts.state() };
  }

  restore(saved: unknown, elapsedMs: number): () => void {
    if (!isFields(saved)) throw new TypeError('expected notifications in what was kept');
    const { ageMs = 0, since, mark, ...kept } = saved as unknown as NotificationState;
    const counts = NotificationCounts.of(kept);
    const reached = mark === null ? undefined : keptNumber(mark);
    // Longer than anybody could ask back, and perhaps only a clock that was wrong: what was told meanwhile is not news.
    const isLost = elapsedMs > LONGEST_RANGE_SECONDS * 1000;
    const beginning = {
      ageMs: isLost ? 0 : keptNumber(ageMs, 0) + elapsedMs,
      since: isLost || since === null ? null : keptNumber(since),
    };
    return () => {
      this.#counts = counts;
      this.#mark = reached;
      this.#beginning.restore(beginning);
    };
  }

  /** Everything older was seen and may be forgotten, in Unix seconds: it is not asked for again. */
  get #forgotten(): number {
    return (this.#mark ?? Number.NEGATIVE_INFINITY) - 2 * OVERLAP_SECONDS;
  }
}

/** What a notification ledger holds, as kept over restarts. */
export interface NotificationState extends NotificationCountsState {
  /** How long ago counting began; missing where an earlier version has written the state. */
  readonly ageMs?: number;
  /** The earliest notification that was counted, in Unix seconds. */
  readonly since: number | null;
  readonly mark: number | null;
}
