import { type Clock, suspendAwareClock } from '../../src/runtime/clock.ts';
import type { ManualClock } from '../support/manual-clock.ts';

/** The clock of a machine that can be put to sleep: timers stand still then, as Linux has it, and the wall clock goes on. */
export class NappingClock implements Clock {
  readonly #manual: ManualClock;
  #sleptMs = 0;
  /** When it last woke, by the clock of the others. */
  wokeAt = Number.NEGATIVE_INFINITY;
  /** By so much the wall clock is ahead of the true time. */
  #aheadMs = 0;
  /** As the program makes it of the machine's two. */
  readonly monotonic: () => number;

  constructor(manual: ManualClock) {
    this.#manual = manual;
    this.monotonic = suspendAwareClock(
      () => manual.monotonic(),
      () => manual.monotonic() + this.#sleptMs,
    );
  }

  now(): number {
    return this.#manual.now() + this.#aheadMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#manual.sleep(ms, signal);
  }

  /** Monotonic milliseconds in which the machine was awake. */
  get awakeMs(): number {
    return this.#manual.monotonic();
  }

  /** How many are asleep. */
  get sleeping(): number {
    return this.#manual.sleeping;
  }

  advance(ms: number): Promise<void> {
    return this.#manual.advance(ms);
  }

  /** Moves time in such steps until the work is over, and gives what came of it. */
  through<Result>(work: Promise<Result>, stepMs: number): Promise<Result> {
    return this.#manual.through(work, stepMs);
  }

  /** Time stands still until the work is over, because a real program does it. */
  holds<Result>(work: Promise<Result>): Promise<Result> {
    return this.#manual.holds(work);
  }

  /** The wall clock is set; the services have one of their own. */
  step(ms: number): void {
    this.#aheadMs += ms;
  }

  /** The clock of the services and of the judge, which never sleep. */
  get others(): Clock {
    const manual = this.#manual;
    return {
      now: () => manual.now(),
      monotonic: () => manual.monotonic() + this.#sleptMs,
      sleep: (ms, signal) => manual.sleep(ms, signal),
    };
  }

  /** The machine sleeps for so long. */
  nap(ms: number): void {
    this.#sleptMs += ms;
    this.#manual.step(ms);
    this.wokeAt = this.others.monotonic();
  }
}
