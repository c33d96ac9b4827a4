/** Simulation chose these values: README.md has its results. */
const TUNING = {
  /** The rate reaches `level` after this time, in milliseconds. */
  approachMs: 20_000,
  /** After a 429 the rate starts at this share of the measured limit, or of the rejected rate if there is no measurement. */
  backOff: 0.99,
  blindBackOff: 0.6,
  /** Where the level lies between the start rate (0) and the rejected rate (1). */
  level: 0.4,
  /** The rate exceeds the level by this share of it one `approachMs` after it has reached the level. */
  search: 0.3,
} as const;

const MIN_RESPONSES = 10;

/** At least one request is sent in twelve seconds: without requests the limit would never be found again. */
const FLOOR_PER_MS = 1 / 12_000;

/** After this time without a 429 the rate that the search has reached counts as sustained, in milliseconds. */
const SEARCHED_MS = 60_000;

/**
 * Decides how fast to send while the limit of the service is unknown. Times are monotonic milliseconds, rates are requests
 * per millisecond.
 *
 * It measures the limit: the requests that the service accepted from the end of one wait to the end of the next, divided
 * by that time. The result is exact for windows, slightly low for token buckets, and also right if another tool uses a
 * part of the limit. The rate then starts just below the measured limit, approaches a level between it and the rejected
 * rate on a cubic curve (flat near the level), and from there grows, slowly at first.
 */
export class AdaptiveRate {
  readonly #ceiling: number;
  /** The curve begins at `base` at the time `from` and passes through `level`. */
  #base: number;
  #level: number;
  #from: number;
  #accepted = 0;
  /** The state at the first of consecutive 429s: the rate, and the requests accepted since a time. */
  #throttling: { readonly rate: number; readonly accepted: number; readonly since: number } | undefined;

  /** `ceiling` is the rate that is never exceeded, and the initial rate. */
  constructor(ceiling: number, now: number) {
    this.#ceiling = ceiling;
    this.#base = ceiling;
    this.#level = ceiling;
    this.#from = now;
  }

  rate(now: number): number {
    const progress = Math.max(0, now - this.#from) / TUNING.approachMs - 1;
    const span = this.#level - this.#base;
    const curve = this.#level + (progress < 0 ? span : Math.max(span, this.#level * TUNING.search)) * progress ** 3;
    return Math.min(this.#ceiling, Math.max(FLOOR_PER_MS, curve));
  }

  /** The rate that can be kept up: the search for a higher limit is left out. */
  sustained(now: number): number {
    if (now - this.#from >= SEARCHED_MS) return this.rate(now);
    // After a long wait the measured limit is close to zero.
    return Math.max(this.#base, this.#level / 2);
  }

  recordAccepted(): void {
    this.#accepted += 1;
  }

  /** Called when the service has accepted a request that was sent after the last 429. */
  recordResumed(): void {
    this.#throttling = undefined;
  }

  /** After a 429 no request is sent before `until`. Called again with a later time while 429s continue. */
  recordThrottle(now: number, until: number): void {
    this.#throttling ??= { rate: this.rate(now), accepted: this.#accepted, since: this.#from };
    const { rate, accepted, since } = this.#throttling;
    const { backOff, blindBackOff, level } = TUNING;
    // The wait counts too: a window that is used up in its first half allows no request in its second half.
    const measured = accepted / Math.max(1, until - since);
    const isBlind = accepted < MIN_RESPONSES || measured >= rate;
    this.#base = isBlind ? rate * blindBackOff : measured * backOff;
    this.#level = Math.min(this.#ceiling, this.#base + (rate - this.#base) * level);
    this.#from = until;
    this.#accepted = 0;
  }
}
