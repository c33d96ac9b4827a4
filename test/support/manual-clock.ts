import type { Clock } from '../../src/runtime/clock.ts';

interface Sleeper {
  readonly due: number;
  readonly order: number;
  readonly wake: () => void;
}

/** A clock that moves only when told. `advance` wakes sleepers in the order they are due, letting each one act first. */
export class ManualClock implements Clock {
  #monotonic = 0;
  #epoch: number;
  #order = 0;
  readonly #sleepers = new Set<Sleeper>();

  /** `start`: what `now()` says at first, in milliseconds since the Unix epoch. */
  constructor(start = Date.UTC(2026, 2, 2, 10)) {
    this.#epoch = start;
  }

  now(): number {
    return this.#epoch + this.#monotonic;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  /** How many are asleep. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  /** The wall clock jumps by `ms` (backwards too); monotonic time and sleepers do not notice. */
  step(ms: number): void {
    this.#epoch += ms;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      this.#order += 1;
      const sleeper: Sleeper = { due: this.#monotonic + Math.max(0, ms), order: this.#order, wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', wake, { once: true });
    });
  }

  /** Moves time by `ms`, stopping at every sleeper's moment and settling what it wakes. */
  async advance(ms: number): Promise<void> {
    const target = this.#monotonic + ms;
    await settle();
    for (;;) {
      const next = this.#next();
      if (next === undefined || next.due > target) break;
      this.#monotonic = Math.max(this.#monotonic, next.due);
      next.wake();
      await settle();
    }
    this.#monotonic = target;
    await settle();
  }

  /** Moves time in such steps until the work is over, and gives what came of it. */
  async through<Result>(work: Promise<Result>, stepMs: number): Promise<Result> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    work.then(over, over);
    while (!isOver) await this.advance(stepMs);
    return work;
  }

  #next(): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const sleeper of this.#sleepers) {
      if (
        first === undefined ||
        sleeper.due < first.due ||
        (sleeper.due === first.due && sleeper.order < first.order)
      ) {
        first = sleeper;
      }
    }
    return first;
  }
}

/** Lets every promise that can go on go on. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
