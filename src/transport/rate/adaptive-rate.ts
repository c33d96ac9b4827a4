/** The parameters of the law; simulation chose the values, see `docs/architecture.md`. */
const TUNING = {
  /** The rate reaches the level within this time, in milliseconds. */
  approachMs: 20_000,
  /** The rate starts again at this share of the measured throughput, or of the rejected rate without a measurement. */
  backOff: 0.99,
  blindBackOff: 0.6,
  /** The level, as a point between that start and the rejected rate. */
  level: 0.4,
  /** How fast the rate grows above the level: by this share of it for each further period of the same length. */
  search: 0.3,
} as const;

const MIN_ANSWERS = 10;

/** One request in twelve seconds for every ceiling: without requests the limit would never be found again. */
const FLOOR_PER_MS = 1 / 12_000;

/** After this time without a rejection the rate that the search reached counts as lasting, in milliseconds. */
const SEARCHED_MS = 60_000;

/**
 * How fast to send while the limit is unknown. Pure; monotonic milliseconds, requests a millisecond.
 *
 * Learns the limit by measuring it. The limit is what the service accepted from the end of one hold to the end of the
 * next, divided by that time. This is exact for windows, slightly low for token buckets, and also right if another tool
 * uses a part. The rate starts again just below the limit, approaches the level between it and the rejected rate on a
 * cubic curve (flat near the expected limit), and then grows, slowly at first.
 */
export class AdaptiveRate {
  readonly #ceiling: number;
  /** The curve: from `base` at `from`, through `level`. */
  #base: number;
  #level: number;
  #from: number;
  #taken = 0;
  /** The rate at the first of the present rejections, and what was accepted until then, since when. */
  #throttling: { readonly rate: number; readonly taken: number; readonly since: number } | undefined;

  /** `ceiling`: the rate that is never exceeded, and the initial rate. */
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

  /** The rate that lasts, without the search for a higher one. */
  sustained(now: number): number {
    if (now - this.#from >= SEARCHED_MS) return this.rate(now);
    // After a long hold the measured throughput is close to nothing.
    return Math.max(this.#base, this.#level / 2);
  }

  accepted(): void {
    this.#taken += 1;
  }

  /** The service accepted a request that was sent after the last rejection. */
  resumed(): void {
    this.#throttling = undefined;
  }

  /** After a 429 nothing is sent before `until`. Called again with a later one while rejections continue. */
  throttled(now: number, until: number): void {
    this.#throttling ??= { rate: this.rate(now), taken: this.#taken, since: this.#from };
    const { rate, taken, since } = this.#throttling;
    const { backOff, blindBackOff, level } = TUNING;
    // The hold counts too: a window that is used up in its first half allows no request in its second half.
    const measured = taken / Math.max(1, until - since);
    const isBlind = taken < MIN_ANSWERS || measured >= rate;
    this.#base = isBlind ? rate * blindBackOff : measured * backOff;
    this.#level = Math.min(this.#ceiling, this.#base + (rate - this.#base) * level);
    this.#from = until;
    this.#taken = 0;
  }
}
