import type { Sample } from '../metrics/samples.ts';
import type { Clock } from '../runtime/clock.ts';

/** Marks what history has of one task. Times are by the clock of the service, in epoch milliseconds. */
export interface Cursor {
  /** The newest bin that was queued, or the end of a time that was given up. */
  at: number;
  /** Until this time the service has returned that it has nothing after `at`. */
  emptyUntil: number;
  /** What was given up because it is too long ago. It counts as lost when the service returns records again. */
  skippedMs: number;
  /** Whether an earlier process may have sent what the next response contains. */
  isNew: boolean;
  /** Whether the task has left the inventory. */
  isAway: boolean;
  /** Since when the task is not polled, because it has left or was restored; in monotonic milliseconds. */
  idleSince: number | undefined;
}

/** The points of one bin of one task that wait to be sent. */
export interface QueuedBin {
  readonly cursor: Cursor;
  readonly at: number;
  readonly samples: readonly Sample[];
  /** Where the cursor was before: there a process continues that never learns whether the bin has arrived. */
  readonly previous: number;
  /** Whether an earlier process may have sent it. */
  readonly mayHaveArrived: boolean;
}

export interface CursorOptions {
  readonly binMs: number;
  /** The length of the period that a usual request covers. */
  readonly lookbackMs: number;
  /** How far back the minutes of a new task are requested. */
  readonly firstMs: number;
  /** How far back minutes are requested after an outage. */
  readonly catchUpMs: number;
  /** How long the cursor of a task that is not polled stays. */
  readonly forgetAfterMs: number;
}

/** `isAway` is 1 or 0. */
type SavedCursor = readonly [task: string, at: number, isAway: number];

/** The clocks of appliances differ; a bin that is further ahead is not valid. */
export const FUTURE_MS = 300_000;

/** A cursor that is further ahead comes from a wrong clock. The measured clock of the service moves by a little. */
const AHEAD_MS = FUTURE_MS + 60_000;

/** A cursor for each task. */
export class Cursors {
  readonly #options: CursorOptions;
  readonly #clock: Clock;
  #cursors = new Map<string, Cursor>();

  constructor(options: CursorOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  get(task: string): Cursor | undefined {
    return this.#cursors.get(task);
  }

  /** Returns the cursor of a task that is about to be polled. */
  of(task: string, now: number): Cursor {
    const { binMs, lookbackMs, firstMs, catchUpMs } = this.#options;
    let cursor = this.#cursors.get(task);
    if (cursor === undefined || cursor.at > now + AHEAD_MS) {
      // The cursor starts one bin later, because a request begins at any second, and its first bin may be incomplete.
      cursor = newCursor(this.#binAt(now - (cursor === undefined ? firstMs : lookbackMs)) + binMs);
      this.#cursors.set(task, cursor);
    }
    const earliest = this.#binAt(now - catchUpMs);
    if (cursor.at < earliest) {
      const known = Math.min(earliest, Math.max(cursor.at, this.#binAt(cursor.emptyUntil)));
      // An appliance that was not in the inventory was not polled, and nothing of it is due.
      if (!cursor.isAway) cursor.skippedMs += earliest - known;
      cursor.at = earliest;
    }
    cursor.isAway = false;
    cursor.idleSince = undefined;
    return cursor;
  }

  /** Called when the task has left the inventory. Its cursor stays for a while, because the task may return. */
  leave(task: string): void {
    const cursor = this.#cursors.get(task);
    if (cursor === undefined) return;
    cursor.isAway = true;
    cursor.idleSince = this.#clock.monotonic();
  }

  forgetIdle(): void {
    const before = this.#clock.monotonic() - Math.max(this.#options.forgetAfterMs, this.#options.catchUpMs);
    for (const [task, { idleSince = Number.POSITIVE_INFINITY }] of this.#cursors) {
      if (idleSince < before) this.#cursors.delete(task);
    }
  }

  /** The cursors with which a later process continues. Bins that wait may not have arrived, so they are read again. */
  save(waiting: Iterable<QueuedBin>): readonly SavedCursor[] {
    const before = new Map<Cursor, number>();
    for (const { cursor, previous } of waiting)
      before.set(cursor, Math.min(previous, before.get(cursor) ?? Number.POSITIVE_INFINITY));
    return [...this.#cursors].map(([task, cursor]) => [task, before.get(cursor) ?? cursor.at, cursor.isAway ? 1 : 0]);
  }

  restore(saved: unknown): void {
    const cursors = new Map<string, Cursor>();
    for (const [task, at, isAway] of saved as readonly SavedCursor[]) {
      if (typeof task !== 'string' || !Number.isFinite(at)) throw new TypeError('expected a task with a time');
      const idleSince = this.#clock.monotonic();
      cursors.set(task, { ...newCursor(at), isAway: isAway === 1, idleSince });
    }
    this.#cursors = cursors;
  }

  /** The beginning of the bin at a time, so that the service does not return a part of a bin. */
  #binAt(time: number): number {
    return Math.floor(time / this.#options.binMs) * this.#options.binMs;
  }
}

function newCursor(at: number): Cursor {
  return {
    at,
    emptyUntil: at,
    skippedMs: 0,
    isNew: true,
    isAway: false,
    idleSince: undefined,
  };
}
