/**
 * How fast to ask when the limit is not known: a rate that falls on refusals and looks for the limit again. Pure; times
 * are monotonic milliseconds, rates requests a millisecond. `docs/pacing.md` compares this one with others.
 */
export interface RateLaw {
  /** The rate at a moment. */
  rate(now: number): number;
  /** A request was taken. */
  accepted(now: number): void;
  /** The service refuses; nothing is sent before `until`. Told again, with a later `until`, while it goes on refusing. */
  refused(now: number, until: number): void;
  /** The service takes requests again that were sent after the last refusal. */
  resumed(): void;
}

/** What the law is made of; the figures were chosen by simulation, see `docs/pacing.md`. */
export interface Tuning {
  /** After a refusal the rate reaches the level where the limit is believed to be within so many milliseconds … */
  readonly approachMs: number;
  /** … and more slowly, up to this, while the limit is found again where it was expected. */
  readonly longestApproachMs: number;
  /** The rate begins again at this part of the throughput measured. */
  readonly backOff: number;
  /** Where the level lies between the measured throughput and the rate refused: for a measurement not trusted, and trusted. */
  readonly level: { readonly blind: number; readonly trusted: number };
  /** How fast it looks for more beyond the level: this part of it more when as long again has passed. */
  readonly search: number;
  /** A measurement over a cycle this long is trusted, over a shorter one by its part, in milliseconds. */
  readonly trustedCycleMs: number;
}

/** The figures in use. */
export const TUNING: Tuning = {
  approachMs: 12_000,
  longestApproachMs: 30_000,
  backOff: 0.99,
  level: { blind: 0.6, trusted: 0.3 },
  search: 0.3,
  trustedCycleMs: 20_000,
};

/** Fewer answers than this measure nothing. */
const FEWEST_ANSWERS = 10;

/** Where nothing can be measured, the rate falls by this factor. */
const BLIND_DECREASE = 0.6;

/** The rate never falls below one request in twelve seconds, whatever the ceiling: at no rate at all nothing would ever be learnt. */
const FLOOR_PER_MS = 1 / 12_000;

/** Throughput is measured over the whole cycle, and over its last part of at least this length, in milliseconds. */
const RECENT_MS = 10_000;

/** How much had been taken at a moment. */
interface Mark {
  readonly at: number;
  readonly taken: number;
}

interface Refusal {
  /** The rate that was refused. */
  readonly rate: number;
  readonly at: number;
  /** What the service took until then, and from when on that is measured. */
  readonly taken: number;
  readonly marks: readonly [cycle: Mark, older: Mark, newer: Mark];
  readonly approach: number;
}

/**
 * Learns the limit by measuring it. From the end of one hold to the end of the next, what the service took divided by
 * the time is what it gives: exact for windows, a little low for token buckets, and right as well when another tool
 * uses a part. The rate begins again just below that, approaches the level between it and the rate that was refused on
 * a cubic curve (flat where the limit is believed to be), and beyond it looks for more, slowly at first.
 */
export class MeasuredRate implements RateLaw {
  readonly #ceiling: number;
  readonly #tuning: Tuning;
  /** The curve: from `base` at `from` over `level` after `approach`. */
  #base: number;
  #level: number;
  #from: number;
  #approach: number;
  #taken = 0;
  /** The beginning of the cycle, and the last two of the marks set every ten seconds. */
  #marks: readonly [cycle: Mark, older: Mark, newer: Mark];
  #refusal: Refusal | undefined;

  /** `ceiling`: the rate that is never exceeded, and with which it begins. */
  constructor(ceiling: number, now: number, tuning: Tuning = TUNING) {
    this.#ceiling = ceiling;
    this.#tuning = tuning;
    this.#base = ceiling;
    this.#level = ceiling;
    this.#from = now;
    this.#approach = tuning.approachMs;
    const start = { at: now, taken: 0 };
    this.#marks = [start, start, start];
  }

  rate(now: number): number {
    const progress = (Math.max(0, now - this.#from) - this.#approach) / this.#approach;
    const span = this.#level - this.#base;
    const curve =
      this.#level + (progress < 0 ? span : Math.max(span, this.#level * this.#tuning.search)) * progress ** 3;
    return Math.min(this.#ceiling, Math.max(FLOOR_PER_MS, curve));
  }

  accepted(now: number): void {
    const [cycle, , newer] = this.#marks;
    if (now - newer.at >= RECENT_MS) this.#marks = [cycle, newer, { at: now, taken: this.#taken }];
    this.#taken += 1;
  }

  resumed(): void {
    this.#refusal = undefined;
  }

  refused(now: number, until: number): void {
    this.#refusal ??= {
      rate: this.rate(now),
      at: now,
      taken: this.#taken,
      marks: this.#marks,
      approach: this.#approach,
    };
    const { rate, at, taken, marks, approach } = this.#refusal;
    const { approachMs, longestApproachMs, backOff, level, trustedCycleMs } = this.#tuning;
    const [{ at: from }] = marks;
    // The hold counts as well: a window that is used up in its first half allows no request in its second.
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
    // Refused no sooner than expected: the limit is where it was, and may be looked for less often.
    const expected = !blind && at - from >= approach;
    this.#approach = expected ? Math.min(longestApproachMs, approach * 1.5) : approachMs;
    this.#from = until;
    this.#taken = 0;
    const start = { at: until, taken: 0 };
    this.#marks = [start, start, start];
  }
}
