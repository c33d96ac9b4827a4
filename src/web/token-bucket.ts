import type { Clock } from '../runtime/clock.ts';

/** Admits `burst` requests at once, then one more each interval. */
export interface ClientRateLimit {
  readonly intervalMs: number;
  readonly burst: number;
}

/**
 * A bucket of tokens, one for each request. It is full at first, and is refilled by a token each interval, up to the
 * burst.
 */
export class TokenBucket {
  readonly #limit: ClientRateLimit;
  readonly #clock: Clock;
  #tokens: number;
  /** When `#tokens` was computed. */
  #countedAt: number;

  constructor(limit: ClientRateLimit, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
    this.#tokens = limit.burst;
    this.#countedAt = clock.monotonic();
  }

  /** Takes a token; returns false if there is none. */
  take(): boolean {
    const now = this.#clock.monotonic();
    const { intervalMs, burst } = this.#limit;
    const tokens = Math.min(burst, this.#tokens + (now - this.#countedAt) / intervalMs);
    if (tokens < 1) return false;
    this.#tokens = tokens - 1;
    this.#countedAt = now;
    return true;
  }
}
