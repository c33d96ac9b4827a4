import type { Clock } from './clock.ts';

/** The earliest time that a correct clock can show, in epoch milliseconds: the date of this program. */
const PROGRAM_WRITTEN_MS = Date.UTC(2025, 0, 1);

/** Whether a clock can be right. It is not on a machine that started in 1970 and has no time source yet. */
export function canBeRight(epochMs: number): boolean {
  return epochMs >= PROGRAM_WRITTEN_MS;
}

/** The measured clock of a service. */
export type CountingClock = Pick<Clock, 'now' | 'monotonic'>;

/**
 * The moment at which counting began, for comparison with times that a service sends. It is stored as an age, so it
 * moves with the clock: one that is wrong at the start and corrected later changes nothing about what is counted.
 */
export class CountingStart {
  readonly #clock: CountingClock;
  /** Monotonic milliseconds. */
  #at: number;
  /** The earliest moment for which {@link CountingStart.includes} returned true, in Unix seconds. */
  #included = Number.POSITIVE_INFINITY;

  constructor(clock: CountingClock) {
    this.#clock = clock;
    this.#at = clock.monotonic();
  }

  get isKnown(): boolean {
    return canBeRight(this.#clock.now());
  }

  /** Unix seconds by the clock as it is now; infinite while it cannot be right: every event would look new. */
  get seconds(): number {
    return this.isKnown ? (this.#clock.now() - this.ageMs) / 1000 : Number.POSITIVE_INFINITY;
  }

  /**
   * Whether a service's time, in Unix seconds, is at or after the start. After the first such time, every later one
   * is included too, even while the clock is far ahead.
   */
  includes(at: number): boolean {
    if (at < Math.min(this.#included, this.seconds)) return false;
    this.#included = Math.min(this.#included, at);
    return true;
  }

  get ageMs(): number {
    return this.#clock.monotonic() - this.#at;
  }

  state(): CountingStartState {
    return { ageMs: this.ageMs, since: Number.isFinite(this.#included) ? this.#included : null };
  }

  restore({ ageMs, since }: CountingStartState): void {
    this.#at = this.#clock.monotonic() - ageMs;
    this.#included = since ?? Number.POSITIVE_INFINITY;
  }
}

export interface CountingStartState {
  readonly ageMs: number;
  /** The earliest moment that it includes, in Unix seconds; null if there was none. */
  readonly since: number | null;
}
