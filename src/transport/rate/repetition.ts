import type { Random } from '../../runtime/random.ts';

/** A repetition is allowed for so many successes. */
const SUCCESSES_PER_REPETITION = 10;

/** At the start, and at most, 20 repetitions are allowed in a row. */
const MAX_SUCCESSES = 20 * SUCCESSES_PER_REPETITION;

/** So many keys are remembered; beyond that the one that failed first is forgotten, and may be repeated once more. */
const MAX_FAILING = 10_000;

const FIRST_DELAY_MS = 500;

/** Limits the repetitions of failed requests to one for ten successes, and to keys whose last request succeeded. */
export class RepetitionAllowance {
  /** The successes that no repetition has used up. */
  #successes = MAX_SUCCESSES;
  /** The keys whose last request failed: an appliance that is dead gets no additional requests. */
  readonly #failing = new Set<string>();

  recordSuccess(key: string | undefined): void {
    if (key !== undefined) this.#failing.delete(key);
    this.#successes = Math.min(MAX_SUCCESSES, this.#successes + 1);
  }

  /** Records that a request has failed, its repetitions included. */
  recordFailure(key: string | undefined): void {
    if (key === undefined) return;
    this.#failing.add(key);
    const [first] = this.#failing;
    if (this.#failing.size > MAX_FAILING && first !== undefined) this.#failing.delete(first);
  }

  /** Whether a failed request may be repeated; if so, the repetition counts. */
  tryRepeat(key: string | undefined): boolean {
    if (this.#successes < SUCCESSES_PER_REPETITION || (key !== undefined && this.#failing.has(key))) return false;
    this.#successes -= SUCCESSES_PER_REPETITION;
    return true;
  }
}

/** The wait after the `attempts`-th failure in a row, in milliseconds: it doubles each time, and half of it is random. */
export function repetitionDelayMs(attempts: number, random: Random): number {
  return FIRST_DELAY_MS * 2 ** (attempts - 1) * (0.5 + random() / 2);
}
