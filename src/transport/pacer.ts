import type { Clock } from '../runtime/clock.ts';
import type { Budget } from './budget.ts';
import type { Departure, Pace } from './pace.ts';

/** How long everything is held after a 429 without `Retry-After`: from a second, doubling to an hour, in milliseconds. */
const UNTOLD_HOLD = { firstMs: 1_000, longestMs: 3_600_000 } as const;

/** The turn-taking of one API: every request waits here for its moment, first come, first served. */
export class Pacer {
  readonly #pace: Pace;
  readonly #budget: Budget;
  readonly #clock: Clock;
  #last: Promise<unknown> = Promise.resolve();
  #untoldInARow = 0;

  constructor(pace: Pace, budget: Budget, clock: Clock) {
    this.#pace = pace;
    this.#budget = budget;
    this.#clock = clock;
  }

  /** Requests per second that pace and budget allow, not counting a hold. */
  get sustainedPerSecond(): number {
    return Math.min(this.#pace.perSecond(this.#clock.monotonic()), this.#budget.perSecond);
  }

  /** Requests per second that are allowed now: 0 while everything is held after a refusal. */
  get perSecond(): number {
    return this.heldUntil === undefined ? this.sustainedPerSecond : 0;
  }

  /** What is left of the day's budget; undefined without a limit. */
  get budgetRemaining(): number | undefined {
    return this.#budget.remaining(this.#clock.monotonic());
  }

  /** Until when everything is held, in monotonic milliseconds; undefined when nothing is. */
  get heldUntil(): number | undefined {
    return this.#pace.holdUntil > this.#clock.monotonic() ? this.#pace.holdUntil : undefined;
  }

  /** Resolves when a request may leave, and counts it as sent; undefined when `signal` aborted before that. */
  turn(signal: AbortSignal): Promise<Departure | undefined> {
    const turn = this.#last.then(() => this.#wait(signal));
    this.#last = turn;
    return turn;
  }

  /** Says that a request was answered, or given up; `refused` with what the service asked for when that was a 429. */
  ended(departure: Departure, refused: { readonly retryAfterMs: number | undefined } | undefined): void {
    const now = this.#clock.monotonic();
    this.#pace.ended(departure, now);
    if (refused === undefined) {
      this.#untoldInARow = 0;
      return;
    }
    this.#pace.refused(departure, now, refused.retryAfterMs ?? this.#untoldHoldMs(departure));
  }

  /** Without `Retry-After` it may be a short limit or the day's: what happens after the hold tells. */
  #untoldHoldMs(departure: Departure): number {
    if (departure.startedAt >= this.#pace.holdUntil) this.#untoldInARow += 1;
    const doubled = UNTOLD_HOLD.firstMs * 2 ** Math.max(0, this.#untoldInARow - 1);
    return Math.min(doubled, UNTOLD_HOLD.longestMs);
  }

  async #wait(signal: AbortSignal): Promise<Departure | undefined> {
    while (!signal.aborted) {
      const now = this.#clock.monotonic();
      const earliest = Math.max(this.#pace.earliest(now), this.#budget.earliest(now));
      if (earliest <= now) {
        this.#budget.spend(now);
        return this.#pace.started(now);
      }
      await this.#clock.sleep(earliest - now, signal);
    }
    return undefined;
  }
}
