import type { Told } from './told.ts';

const DAY_MS = 86_400_000;

/** Requests that have left the day are let go of in bulk. */
const BULK = 5_000;

/**
 * Counts requests at the moment they leave. It stands where whatever is thrown is lost, so what is wrong is written down
 * for who asks.
 */
export class RequestCount {
  readonly #told: Told;
  readonly #violations: string[] = [];
  /** When each of the last day's left, oldest first; those before `#first` are older. */
  #left: number[] = [];
  #first = 0;
  #most = { aWindow: 0, aDay: 0 };

  constructor(told: Told) {
    this.#told = told;
  }

  /** What was wrong so far, in order. */
  get violations(): readonly string[] {
    return this.#violations;
  }

  /** The most there were in one window, and in one day. */
  get most(): { readonly aWindow: number; readonly aDay: number } {
    return this.#most;
  }

  /** One leaves; monotonic milliseconds. */
  leaves(now: number): void {
    const { requests, windowMs, aDay } = this.#told;
    this.#left.push(now);
    while (now - (this.#left[this.#first] ?? now) >= DAY_MS) this.#first += 1;
    if (this.#first > BULK) {
      this.#left = this.#left.slice(this.#first);
      this.#first = 0;
    }
    const inDay = this.#left.length - this.#first;
    const inWindow = this.#within(now, windowMs);
    this.#most = { aWindow: Math.max(this.#most.aWindow, inWindow), aDay: Math.max(this.#most.aDay, inDay) };
    if (inWindow > requests) this.#violations.push(`${inWindow} requests in ${windowMs} ms, told ${requests}`);
    if (inDay > aDay) this.#violations.push(`${inDay} requests in a day, told ${aDay}`);
  }

  #within(now: number, ms: number): number {
    let at = this.#left.length;
    while (at > this.#first && now - (this.#left[at - 1] ?? 0) < ms) at -= 1;
    return this.#left.length - at;
  }
}
