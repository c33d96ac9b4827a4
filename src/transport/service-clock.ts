import type { Clock } from '../runtime/clock.ts';
import { canBeRight } from '../runtime/counting-start.ts';

/**
 * The shortest time between two samples after the first ones, in milliseconds, because responses that a pause has delayed
 * arrive together.
 */
const SAMPLE_INTERVAL_MS = 10_000;

/** The most samples that are kept, and the fewest that do without the clock of this machine. */
const MAX_SAMPLES = 5;
const MIN_SAMPLES = 3;

/** In milliseconds: a difference becomes large above the first and stays large until it is below the second. */
const LARGE_MS = 60_000;
const SMALL_MS = 30_000;

/**
 * The clock of one service, measured by the `Date` of its responses: the median of the last samples, so no single response
 * moves it. Before the third sample, the clock of this machine counts as a sample; of two samples the earlier one is used.
 */
export class ServiceClock implements Pick<Clock, 'now' | 'monotonic'> {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  /** By how many milliseconds the clock of the service was ahead of the monotonic clock; oldest first. */
  #offsets: readonly number[] = [];
  #sampledAt = Number.NEGATIVE_INFINITY;
  #isSkewed = false;

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#clock = clock;
  }

  /** The time of the service, in epoch milliseconds. */
  now(): number {
    const machine = this.#clock.now();
    const times = this.#offsets.map((offset) => offset + this.monotonic());
    if (times.length === 0 || (times.length < MIN_SAMPLES && canBeRight(machine))) times.push(machine);
    times.sort((timeA, timeB) => timeA - timeB);
    return times[Math.floor((times.length - 1) / 2)] ?? machine;
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  /** By how much the service is ahead of this machine, in milliseconds; undefined before enough samples. */
  get skewMs(): number | undefined {
    return this.#offsets.length < MIN_SAMPLES ? undefined : this.now() - this.#clock.now();
  }

  /** Whether the difference is large enough for a warning. */
  get isSkewed(): boolean {
    return this.#isSkewed;
  }

  /** The time of a response in epoch milliseconds: the one that it reports, unless the measured clock contradicts it. */
  timeOf(epochMs: number | undefined): number {
    if (epochMs !== undefined) this.addSample(epochMs);
    const now = this.now();
    return epochMs !== undefined && Math.abs(epochMs - now) <= SMALL_MS ? epochMs : now;
  }

  /** Adds the service's time in a response that has just arrived, in epoch milliseconds. */
  addSample(epochMs: number): void {
    const now = this.monotonic();
    if (this.#offsets.length >= MIN_SAMPLES && now - this.#sampledAt < SAMPLE_INTERVAL_MS) return;
    this.#sampledAt = now;
    this.#offsets = [...this.#offsets, epochMs - now].slice(-MAX_SAMPLES);
    if (this.#offsets.length < MAX_SAMPLES) return;
    this.#isSkewed = Math.abs(this.skewMs ?? 0) > (this.#isSkewed ? SMALL_MS : LARGE_MS);
  }
}
