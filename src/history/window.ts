import { MAX_COMBINED_MS, type Window } from '../contract/minutes.ts';
import type { Cursor } from './cursor.ts';
import { FUTURE_MS } from './points.ts';

export interface WindowOptions {
  readonly binMs: number;
  /** The period of a usual request. */
  readonly lookbackMs: number;
  /** Gaps are filled as far back as this. */
  readonly catchUpMs: number;
  /** Time between two polls of a task. */
  readonly intervalMs: number;
}

const HOUR_MS = 3_600_000;

/** The largest number of bins of a window: five days of minutes. */
const MAX_BINS = 7_200;

const SLICE_MS = 50 * 60_000;

/** Bins this close to the age limit of the receiver would be too old on arrival. */
const AGE_MARGIN_MS = 120_000;

/** Decides which minutes the next poll of a task requests. Times are by the service's clock, in epoch milliseconds. */
export class Windows {
  readonly #options: WindowOptions;
  /** After an outage of all tasks: the period that all of them catch up now. */
  #slice: { from: number; since: number; isCut: boolean; readonly lengthMs: number } | undefined;
  #ageLimit: { readonly ageMs: number; readonly learntAt: number } | undefined;

  constructor(options: WindowOptions) {
    this.#options = options;
  }

  /**
   * Returns undefined if nothing can be requested. `newest` is the time until which any task has delivered everything;
   * `room` is in points.
   */
  of(cursor: Cursor, now: number, newest: number, room: number): Window | undefined {
    const { binMs, catchUpMs } = this.#options;
    const up = (time: number) => Math.ceil(time / binMs) * binMs;
    const { at, unreadable } = cursor;
    const [next, earliest] = [at + binMs, up(now - catchUpMs)];
    let start = Math.max(next, earliest, unreadable?.until ?? next);
    const from = Math.max(start, up(this.oldestAccepted(now) + AGE_MARGIN_MS));
    let skips: Window['skips'];
    if (start > next) skips = start === earliest ? 'catch_up' : unreadable?.reason;
    if (from > start && now - start > MAX_COMBINED_MS) {
      start = from;
      skips = 'too_old';
    }
    const bins = Math.min(Math.floor(room / cursor.pointsPerBin), MAX_BINS);
    const end = this.#sliceEnd(now, newest) ?? now + FUTURE_MS;
    const to = Math.min(up(end), from + bins * binMs);
    if (this.#slice !== undefined && to < up(end)) this.#slice.isCut = true;
    return to > from ? { start, from, to, skips } : undefined;
  }

  /** Returns undefined without an age limit. A limit is forgotten after an hour. */
  oldestAccepted(now: number): number {
    const limit = this.#ageLimit;
    return limit === undefined || now - limit.learntAt > HOUR_MS ? Number.NEGATIVE_INFINITY : now - limit.ageMs;
  }

  /** Sets the age limit of the receiver; without `oldest` the limit is unknown again. */
  limitAge(now: number, oldest?: number): void {
    this.#ageLimit = oldest === undefined ? undefined : { ageMs: now - oldest, learntAt: now };
  }

  /**
   * A Prometheus that scrapes nothing rejects points that are an hour older than its newest one of any series. Therefore,
   * after an outage longer than a slice, all tasks catch up one slice of time after the other, if their interval is short
   * enough. The slice advances by the clock and waits for no task.
   */
  #sliceEnd(now: number, newest: number): number | undefined {
    const { catchUpMs, intervalMs, lookbackMs } = this.#options;
    if (this.#slice === undefined) {
      if (now - newest < SLICE_MS + lookbackMs || intervalMs > SLICE_MS / 4) return undefined;
      const from = Math.max(newest - intervalMs - lookbackMs, now - catchUpMs);
      this.#slice = { from, since: now, isCut: false, lengthMs: Math.max(SLICE_MS, (now - from) / 24) };
    }
    const slice = this.#slice;
    if (now - slice.since >= intervalMs) {
      if (!slice.isCut) slice.from += slice.lengthMs;
      slice.since += intervalMs;
      slice.isCut = false;
    }
    // A slice may be older than what is caught up, if the clock of the service was behind by far and was corrected.
    slice.from = Math.max(slice.from, this.oldestAccepted(now), now - catchUpMs);
    const end = slice.from + slice.lengthMs;
    if (end < now - lookbackMs) return end;
    this.#slice = undefined;
    return undefined;
  }
}
