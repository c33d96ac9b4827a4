const DAY_MS = 86_400_000;

/** Sums of fractions may be a trifle less. */
const ROUNDING_MS = 0.001;

/** Ceilings of requests: in a window, and in a day. */
export interface Ceilings {
  readonly requests: number;
  readonly windowMs: number;
  /** Infinite where there is none. */
  readonly aDay: number;
}

/** Counts requests at the moment they leave, and writes down when there were more than the ceilings allow. */
export class RequestCount {
  readonly #ceilings: Ceilings;
  readonly #violations: string[] = [];
  /** When each of the last day's left, oldest first; those before `#first` are older. */
  #left: number[] = [];
  #first = 0;

  constructor(ceilings: Ceilings) {
    this.#ceilings = ceilings;
  }

  /** What was wrong so far, in order. */
  get violations(): readonly string[] {
    return this.#violations;
  }

  /** The exporter was started again, and knows nothing of what it had sent. */
  forget(): void {
    this.#left = [];
    this.#first = 0;
  }

  /** One leaves; monotonic milliseconds. */
  leaves(now: number): void {
    const { requests, windowMs, aDay } = this.#ceilings;
    this.#left.push(now);
    while (now - (this.#left[this.#first] ?? now) >= DAY_MS) this.#first += 1;
    const inDay = this.#left.length - this.#first;
    // The oldest of one more than the window may have.
    const oldest = this.#left[this.#left.length - 1 - requests];
    if (oldest !== undefined && now - oldest < windowMs - ROUNDING_MS)
      this.#violations.push(`more than ${requests} requests in ${windowMs} ms`);
    if (inDay > aDay) this.#violations.push(`more than ${aDay} requests in a day`);
  }
}
