/**
 * How fast to send while the limit is unknown: a rate that falls after a 429 and then searches for the limit again.
 * Pure; monotonic milliseconds, requests a millisecond. `docs/pacing.md` compares this law with others.
 */
export interface RateLaw {
  rate(now: number): number;
  /** The rate that lasts, without the search for a higher one; default `rate`. */
  sustained?(now: number): number;
  accepted(now: number): void;
  /** After a 429 nothing is sent before `until`. Called again with a later one while rejections continue. */
  throttled(now: number, until: number): void;
  /** The service accepted a request that was sent after the last rejection. */
  resumed(): void;
}

/** The parameters of the law; simulation chose the values, see `docs/pacing.md`. */
const TUNING = {
  /** After a rejection the rate reaches the level of the expected limit within this time in milliseconds … */
  approachMs: 12_000,
  /** … and more slowly, up to this time, while the limit proves to be where it was expected. */
  longestApproachMs: 30_000,
  /** The rate starts again at this share of the measured throughput. */
  backOff: 0.99,
  /** The level as a point between the measured throughput and the rejected rate. */
  level: { blind: 0.6, trusted: 0.3 },
  /** How fast the rate grows above the level: by this share of it for each further period of the same length. */
  search: 0.3,
  /** A measurement over a cycle of this length is trusted fully, over a shorter one in proportion, in milliseconds. */
  trustedCycleMs: 20_000,
} as const;

const FEWEST_ANSWERS = 10;

/** The factor by which the rate falls without a measurement. */
const BLIND_DECREASE = 0.6;

/** One request in twelve seconds for every ceiling: without requests the limit would never be found again. */
const FLOOR_PER_MS = 1 / 12_000;

/** Throughput is measured over the whole cycle, and over its last part of at least this length, in milliseconds. */
const RECENT_MS = 10_000;

/** After this time without a rejection the rate that the search reached counts as lasting, in milliseconds. */
const SEARCHED_MS = 60_000;

interface Mark {
  readonly at: number;
  readonly taken: number;
}

interface Throttling {
  readonly rate: number;
  readonly at: number;
  /** How many requests the service had accepted by then, and the start of that measurement. */
  readonly taken: number;
  readonly marks: readonly [cycle: Mark, older: Mark, newer: Mark];
  readonly approach: number;
}

/**
 * Learns the limit by measuring it. The limit is what the service accepted from the end of one hold to the end of the
 * next, divided by that time. This is exact for windows, slightly low for token buckets, and also right if another tool
 * uses a part. The rate starts again just below the limit, approaches the level between it and the rejected rate on a
 * cubic curve (flat near the expected limit), and then grows, slowly at first.
 */
export class MeasuredRate implements RateLaw {
  readonly #ceiling: number;
  /** The curve: from `base` at `from`, through `level` after `approach`. */
  #base: number;
  #level: number;
  #from: number;
  #approach: number = TUNING.approachMs;
  #taken = 0;
  /** The start of the cycle, and the last two of the marks set every ten seconds. */
  #marks: readonly [cycle: Mark, older: Mark, newer: Mark];
  #throttling: Throttling | undefined;

  /** `ceiling`: the rate that is never exceeded, and the initial rate. */
  constructor(ceiling: number, now: number) {
    this.#ceiling = ceiling;
    this.#base = ceiling;
    this.#level = ceiling;
    this.#from = now;
    const start = { at: now, taken: 0 };
    this.#marks = [start, start, start];
  }

  rate(now: number): number {
    const progress = (Math.max(0, now - this.#from) - this.#approach) / this.#approach;
    const span = this.#level - this.#base;
    const curve = this.#level + (progress < 0 ? span : Math.max(span, this.#level * TUNING.search)) * progress ** 3;
    return Math.min(this.#ceiling, Math.max(FLOOR_PER_MS, curve));
  }

  sustained(now: number): number {
    if (now - this.#from >= SEARCHED_MS) return this.rate(now);
    // After a long hold the measured throughput is close to nothing.
    return Math.max(this.#base, this.#level / 2);
  }

  accepted(now: number): void {
    const [cycle, , newer] = this.#marks;
    if (now - newer.at >= RECENT_MS) this.#marks = [cycle, newer, { at: now, taken: this.#taken }];
    this.#taken += 1;
  }

  resumed(): void {
    this.#throttling = undefined;
  }

  throttled(now: number, until: number): void {
    this.#throttling ??= {
      rate: this.rate(now),
      at: now,
      taken: this.#taken,
      marks: this.#marks,
      approach: this.#approach,
    };
    const { rate, at, taken, marks, approach } = this.#throttling;
    const { approachMs, longestApproachMs, backOff, level, trustedCycleMs } = TUNING;
    const [{ at: from }] = marks;
    // The hold counts too: a window that is used up in its first half allows no request in its second half.
    const measured = marks.reduce(
      (most, mark) => Math.max(most, (taken - mark.taken) / Math.max(1, until - mark.at)),
      0,
    );
    const cycle = until - from;
    const blind = taken < FEWEST_ANSWERS || measured >= rate;
    this.#base = blind ? rate * BLIND_DECREASE : measured * backOff;
    const trust = blind ? 0 : Math.min(1, cycle / trustedCycleMs);
    const part = level.blind + (level.trusted - level.blind) * trust;
    this.#level = Math.min(this.#ceiling, this.#base + (rate - this.#base) * part);
    // Rejected no sooner than expected: the limit has not changed, so search for it less often.
    const expected = !blind && at - from >= approach;
    this.#approach = expected ? Math.min(longestApproachMs, approach * 1.5) : approachMs;
    this.#from = until;
    this.#taken = 0;
    const start = { at: until, taken: 0 };
    this.#marks = [start, start, start];
  }
}
