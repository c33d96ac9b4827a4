import type { Bin, LossReason, Window } from '../contract/minutes.ts';
import type { SavedPart } from '../contract/saved-part.ts';
import type { JsonObject } from '../metrics/family.ts';
import type { Clock } from '../runtime/clock.ts';
import { LargeMap } from '../runtime/large-map.ts';
import type { Log } from '../runtime/log.ts';
import { increment } from '../runtime/maps.ts';
import { unitHash } from '../runtime/random.ts';
import { type Cursor, newCursor, type SavedCursors, type SentTask } from './cursor.ts';
import { FUTURE_MS, type UnusedReason } from './points.ts';
import type { RejectionReason } from './receiver-responses.ts';

export interface CursorOptions {
  readonly binMs: number;
  readonly lookbackMs: number;
  readonly catchUpMs: number;
  /** How long the cursor of a task that is gone stays, in milliseconds. */
  readonly forgetAfterMs: number;
}

/** A cursor that is ahead for so long is set back; sooner, the measured clock itself may be wrong for some minutes. */
const AHEAD_MS = 3_600_000;

/** A cursor is ahead if it is this far beyond the latest valid bin, in milliseconds, because the measured clock moves by a little. */
const AHEAD_MARGIN_MS = 60_000;

const DROPS: readonly (RejectionReason | UnusedReason)[] = [
  ...(['out_of_order', 'too_old', 'too_large', 'rejected'] as const),
  ...(['duplicate', 'future', 'late', 'invalid'] as const),
];

const LOSSES: readonly LossReason[] = ['catch_up', 'too_old', 'rejected', 'unread'];

/** Only this class moves cursors, so it also reports what is skipped: minutes as lost, points as dropped. */
export class HistoryCursors implements SavedPart {
  readonly name = 'remote_write';
  readonly #options: CursorOptions;
  readonly #clock: Clock;
  readonly #log: Log;
  #cursors = new LargeMap<string, Cursor>(unitHash);
  /** The tasks of the request in flight, with the last bin of each. */
  #sending: readonly SentTask[] = [];
  /** Tasks that are not polled, in the order in which they left, with the monotonic time. */
  #idle = new Map<string, number>();
  readonly #logged = new Set<string>();
  readonly dropped = new Map<string, number>(DROPS.map((reason) => [reason, 0]));
  /** Lost seconds by reason, each for one task. */
  readonly lost = new Map<string, number>(LOSSES.map((reason) => [reason, 0]));
  /** When history began; tasks that are polled later for the first time begin there too. */
  #begun: number | undefined;
  #newest: number | undefined;
  #newestSeen = 0;

  constructor(options: CursorOptions, clock: Clock, log: Log) {
    this.#options = options;
    this.#clock = clock;
    this.#log = log;
  }

  get(task: string): Cursor | undefined {
    return this.#cursors.get(task);
  }

  get size(): number {
    return this.#cursors.size;
  }

  /** The newest bin of any task that the receiver has; until it has one, the time at which history began. */
  get newest(): number | undefined {
    return this.#newest ?? this.#begun;
  }

  /** The latest time until which a task has delivered everything. */
  get newestSeen(): number {
    return this.#newestSeen;
  }

  /**
   * Returns the cursor of a task that is about to be polled. A new cursor begins where history began, but not before
   * the catch-up.
   */
  of(task: string, now: number): Cursor {
    const { binMs, lookbackMs, catchUpMs } = this.#options;
    const before = (time: number) => (Math.ceil(time / binMs) - 1) * binMs;
    this.#begun ??= before(now - lookbackMs);
    const existing = this.#cursors.get(task);
    const begins = Math.max(this.#begun, before(now - catchUpMs));
    const cursor = existing ?? newCursor(task, begins, begins + binMs);
    if (existing === undefined) this.#cursors.set(task, cursor);
    if (this.#newestSeen === 0) this.#newestSeen = cursor.seen;
    this.#idle.delete(task);
    if (cursor.goneAt !== undefined) cursor.away = [cursor.goneAt, now];
    cursor.goneAt = undefined;
    cursor.seen = Math.min(cursor.seen, Math.max(cursor.at, now));
    if (this.#isAhead(cursor, now)) {
      this.#logOnce('ahead', { task }, 'remote write: a cursor is ahead of the clock of the service and was set back');
      const at = before(now - lookbackMs - AHEAD_MS);
      // What was delivered before is not lost, whichever clock was wrong.
      cursor.away = [at, cursor.at];
      cursor.at = cursor.seen = at;
      cursor.ahead = undefined;
      this.#newestSeen = now;
    }
    this.#forget();
    return cursor;
  }

  /**
   * Called when the measured clock of the service is corrected by so much, so that the correction does not count as a
   * time without progress.
   */
  moveClock(byMs: number): void {
    if (Math.abs(byMs) > FUTURE_MS && this.#newestSeen > 0) this.#newestSeen += byMs;
  }

  /** Called when the task has left the inventory. Its cursor stays for a while, because the task may return. */
  markGone(task: string, now: number): void {
    const cursor = this.#cursors.get(task);
    if (cursor === undefined) return;
    cursor.goneAt ??= now;
    this.#idle.set(task, this.#clock.monotonic());
  }

  /**
   * Called when the receiver has these bins, or will never get them. Until `seen`, everything was returned and delivered.
   */
  advance(cursor: Cursor, times: readonly number[], isDelivered: boolean, seen = 0): void {
    const { binMs } = this.#options;
    const last = Math.max(cursor.at, times.at(-1) ?? cursor.at);
    const shift = (last - cursor.at) / binMs;
    cursor.bits = shift < 32 ? cursor.bits << shift : 0;
    cursor.at = last;
    for (const time of times) if (last - time < 32 * binMs) cursor.bits |= 1 << ((last - time) / binMs);
    cursor.seen = Math.max(cursor.seen, seen);
    this.#newestSeen = Math.max(this.#newestSeen, cursor.seen);
    if (isDelivered) this.#newest = Math.max(last, this.#newest ?? last);
  }

  /**
   * Reports what a window has skipped, after its first bin has arrived: until then it is unknown whether anything
   * existed.
   */
  skip(cursor: Cursor, { start, skips }: Window, first: number): void {
    if (skips === undefined) return;
    const { binMs, lookbackMs } = this.#options;
    // If bins begin with the window, there were bins before them. Otherwise only what was never requested may have
    // existed.
    const seen = first > start ? Math.floor((cursor.seen - lookbackMs) / binMs) * binMs : cursor.at;
    const from = Math.max(cursor.at, seen) + binMs;
    const [goneAt, backAt] = cursor.away ?? [start, start];
    const away = Math.max(0, Math.min(backAt, start) - Math.max(goneAt, from));
    cursor.away = undefined;
    this.#lose(cursor, skips, Math.round((start - from - away) / binMs));
  }

  /** Counts bins that exist and are too old for the receiver. */
  loseTooOld(cursor: Cursor, times: readonly number[]): void {
    this.#lose(cursor, 'too_old', times.length);
    this.advance(cursor, times, false);
  }

  /** Counts each bin once that appears before the cursor. */
  dropLate(cursor: Cursor, bins: Iterable<Bin>): void {
    const { binMs } = this.#options;
    for (const { at, samples } of bins) {
      const age = (cursor.at - at) / binMs;
      if (age < 0 || age >= 32 || !Number.isInteger(age) || (cursor.bits & (1 << age)) !== 0) continue;
      cursor.bits |= 1 << age;
      this.drop('late', samples(() => {}).length);
    }
  }

  drop(reason: RejectionReason | UnusedReason, points: number, response?: string): void {
    increment(this.dropped, reason, points);
    if (response === undefined) return;
    this.#logOnce(reason, { reason, response }, 'remote write: the receiver rejects points, which are dropped');
  }

  /** Called before a request is sent. If the process is killed then, it is unknown whether the request arrived. */
  sending(tasks: readonly SentTask[]): void {
    this.#sending = tasks;
  }

  save(): SavedCursors {
    return {
      begun: this.#begun ?? null,
      newest: this.#newest ?? null,
      sending: this.#sending,
      cursors: Array.from(this.#cursors.entries(), ([task, { at, seen }]) => [task, at, seen]),
    };
  }

  restore(saved: unknown): void {
    const { begun, newest, sending, cursors: savedCursors } = saved as SavedCursors;
    const cursors = new LargeMap<string, Cursor>(unitHash);
    for (const [task, at, seen] of savedCursors) {
      cursors.set(task, newCursor(task, at, seen, { since: Number.NEGATIVE_INFINITY, now: 0 }));
    }
    for (const [task, until] of sending) {
      const cursor = cursors.get(task);
      if (cursor !== undefined && until > cursor.at) cursor.sentUntil = until;
    }
    this.#begun = begun ?? undefined;
    this.#newest = newest ?? undefined;
    this.#newestSeen = savedCursors.reduce((latest, [, , seen]) => Math.max(latest, seen), 0);
    this.#cursors = cursors;
    this.#idle = new Map(savedCursors.map(([task]) => [task, this.#clock.monotonic()]));
  }

  #isAhead(cursor: Cursor, now: number): boolean {
    const monotonic = this.#clock.monotonic();
    const isAhead = cursor.at > now + FUTURE_MS + AHEAD_MARGIN_MS;
    const before = cursor.ahead;
    cursor.ahead = isAhead ? (before ?? { since: monotonic, now }) : undefined;
    if (before === undefined) return false;
    const aheadMs = monotonic - before.since;
    // If the clock has reached the cursor by passing and not by being corrected, the time until then was never requested.
    const hasPassed = Math.abs(now - before.now - aheadMs) <= FUTURE_MS;
    return isAhead ? aheadMs >= AHEAD_MS : hasPassed;
  }

  #lose({ task }: Cursor, reason: LossReason, bins: number): void {
    if (bins <= 0) return;
    const seconds = (bins * this.#options.binMs) / 1000;
    increment(this.lost, reason, seconds);
    this.#logOnce(`lost ${reason}`, { reason, task, seconds }, 'remote write: minutes are lost');
  }

  #forget(): void {
    const { forgetAfterMs } = this.#options;
    for (const [task, since] of this.#idle) {
      if (this.#clock.monotonic() - since < forgetAfterMs) return;
      this.#idle.delete(task);
      if (this.#cursors.get(task)?.batches !== 0) continue;
      this.#cursors.delete(task);
    }
  }

  #logOnce(kind: string, facts: JsonObject, message: string): void {
    if (!this.#logged.has(kind)) this.#log.warn(facts, message);
    this.#logged.add(kind);
  }
}
