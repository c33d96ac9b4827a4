import type { Clock } from './clock.ts';

/** A correct clock cannot show an earlier time than this, in epoch milliseconds, because the program was written later. */
const PROGRAM_WRITTEN_MS = Date.UTC(2025, 0, 1);

/** Returns false for the clock of a machine that has no time source yet and starts in 1970. */
export function canBeRight(epochMs: number): boolean {
  return epochMs >= PROGRAM_WRITTEN_MS;
}

/** The clock of a service, as the exporter measures it. */
export type CountingClock = Pick<Clock, 'now' | 'monotonic'>;

/**
 * The moment at which the counting of events began, for comparison with times that a service sends. It is an age, so that
 * it follows if the clock is wrong at the start and corrected later.
 */
export class CountingStart {
  readonly #clock: CountingClock;
  /** In monotonic milliseconds. */
  readonly #startedAt: number;
  /** The earliest time for which `includes` returned true, in Unix seconds. */
  #earliestIncluded = Number.POSITIVE_INFINITY;

  constructor(clock: CountingClock) {
    this.#clock = clock;
    this.#startedAt = clock.monotonic();
  }

  /** The start in Unix seconds by the present clock; undefined while the clock cannot be right, because every event would look new. */
  get seconds(): number | undefined {
    const now = this.#clock.now();
    return canBeRight(now) ? (now - (this.#clock.monotonic() - this.#startedAt)) / 1000 : undefined;
  }

  /**
   * Returns whether a time that a service sent, in Unix seconds, is at or after the start. After the first such time,
   * every later time is included too, even while the clock is far ahead.
   */
  includes(seconds: number): boolean {
    if (seconds < Math.min(this.#earliestIncluded, this.seconds ?? Number.POSITIVE_INFINITY)) return false;
    this.#earliestIncluded = Math.min(this.#earliestIncluded, seconds);
    return true;
  }
}
