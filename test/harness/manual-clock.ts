import process from 'node:process';
import type { Clock } from '../../src/runtime/clock.ts';

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
}

/** A shorter sleep takes so long, as a timer of Node.js does: otherwise a loop that sleeps too little would never end. */
const MIN_SLEEP_MS = 1;

/** A clock that moves only when told. Sleepers wake in the order of their times, and those of one time in the order of their sleeps. */
export class ManualClock implements Clock {
  #monotonic = 0;
  #epoch: number;
  #sleepers: Sleeper[] = [];

  /** `start`: what `now()` returns at first, in milliseconds since the Unix epoch. */
  constructor(start = Date.UTC(2026, 2, 2, 10)) {
    this.#epoch = start;
  }

  now(): number {
    return this.#epoch + this.#monotonic;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  get sleeping(): number {
    return this.#sleepers.length;
  }

  /** The wall clock jumps by `ms`, backwards too; monotonic time and sleepers do not notice. */
  step(ms: number): void {
    this.#epoch += ms;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const sleeper: Sleeper = { due: this.#monotonic + Math.max(MIN_SLEEP_MS, ms), wake };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', wake, { once: true });
    });
  }

  /** Moves time by `ms`, stopping at every sleeper's time and settling what it wakes. */
  async advance(ms: number): Promise<void> {
    const target = this.#monotonic + ms;
    await settle();
    for (let due = this.#nextDue(); due <= target; due = this.#nextDue()) {
      this.#monotonic = Math.max(this.#monotonic, due);
      for (const sleeper of this.#sleepers.filter((one) => one.due <= this.#monotonic)) sleeper.wake();
      await settle();
    }
    this.#monotonic = target;
    await settle();
  }

  /** Moves time in such steps until the work is over, and returns its result. */
  async through<Result>(work: Promise<Result>, stepMs: number): Promise<Result> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    work.then(over, over);
    while (!isOver) await this.advance(stepMs);
    return work;
  }

  #nextDue(): number {
    return this.#sleepers.reduce((earliest, { due }) => Math.min(earliest, due), Number.POSITIVE_INFINITY);
  }
}

/**
 * Lets every promise that can go on go on, over as many turns of the event loop as they take.
 * Two at once would wait for each other for ever: one test moves one clock at a time.
 */
export async function settle(): Promise<void> {
  do {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  } while (process.getActiveResourcesInfo().includes('Immediate'));
}
