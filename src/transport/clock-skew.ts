import { medianOf } from '../metrics/units.ts';

/** Differences are compared at most so often, in milliseconds: answers that a pause has delayed arrive together. */
const EVERY_MS = 10_000;

/** The median of so many decides, once there are enough. */
const JUDGED = 5;
const FEWEST = 3;

/** In milliseconds; once it was large, it is until it is clearly smaller. */
const LARGE_MS = 60_000;
const SMALL_MS = 30_000;

/** How far a service's clock is ahead of that of this machine, by several answers. Pure. */
export class ClockSkew {
  #differences: readonly number[] = [];
  #comparedAt = Number.NEGATIVE_INFINITY;
  #isLarge = false;

  /** In milliseconds; undefined before enough answers. */
  get ms(): number | undefined {
    return this.#differences.length < FEWEST ? undefined : medianOf(this.#differences);
  }

  get isLarge(): boolean {
    return this.#isLarge;
  }

  /** `date`: the service's time in an answer, `now`: this machine's, both in epoch milliseconds; `at`: monotonic. */
  answered(date: number, now: number, at: number): void {
    if (at - this.#comparedAt < EVERY_MS) return;
    this.#comparedAt = at;
    this.#differences = [...this.#differences, date - now].slice(-JUDGED);
    this.#isLarge = Math.abs(this.ms ?? 0) > (this.#isLarge ? SMALL_MS : LARGE_MS);
  }
}
