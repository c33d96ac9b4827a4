import type { Clock } from './clock.ts';

/** No clock that is right shows less, in epoch milliseconds: this program was written later. */
const PROGRAM_WRITTEN_MS = Date.UTC(2025, 0, 1);

/**
 * The moment from which on things are counted, to be compared with times that a service tells. It is remembered as how
 * long ago it is, and so moves with the wall clock: one that is wrong at the start and set right later, as NTP does, moves
 * nothing into or out of what is counted.
 */
export class Beginning {
  readonly #clock: Clock;
  /** Monotonic milliseconds. */
  #at: number;
  /** The earliest moment that was found not to be from before it, in Unix seconds. */
  #included = Number.POSITIVE_INFINITY;

  /** Now. */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.#at = clock.monotonic();
  }

  /** Whether the wall clock can be right; it is not on a machine that began in 1970 and has not been told the time. */
  get isKnown(): boolean {
    return this.#clock.now() >= PROGRAM_WRITTEN_MS;
  }

  /** Unix seconds, by the wall clock as it is set now. Infinity while that cannot be right: everything would look new. */
  get seconds(): number {
    return this.isKnown ? (this.#clock.now() - this.ageMs) / 1000 : Number.POSITIVE_INFINITY;
  }

  /**
   * Whether a moment that a service tells, in Unix seconds, is not from before it. Once one was not, no later one is, though
   * the clock be far ahead for a while.
   */
  includes(at: number): boolean {
    if (at < Math.min(this.#included, this.seconds)) return false;
    this.#included = Math.min(this.#included, at);
    return true;
  }

  /** How long ago it is, in milliseconds. */
  get ageMs(): number {
    return this.#clock.monotonic() - this.#at;
  }

  /** What {@link Beginning.restore} takes. */
  state(): BeginningState {
    return { ageMs: this.ageMs, since: Number.isFinite(this.#included) ? this.#included : null };
  }

  /** Goes on where another one was, which was so long ago. */
  restore({ ageMs, since }: BeginningState): void {
    this.#at = this.#clock.monotonic() - ageMs;
    this.#included = since ?? Number.POSITIVE_INFINITY;
  }
}

/** A beginning, as kept over restarts. */
export interface BeginningState {
  readonly ageMs: number;
  /** The earliest moment that it includes, in Unix seconds; null while there was none. */
  readonly since: number | null;
}
