import type { Clock } from '../../src/runtime/clock.ts';

interface Sleeper {
  readonly due: number;
  readonly order: number;
  readonly wake: () => void;
  /** It was aborted, or has been woken: it is dropped when it comes to the top. */
  isAwake: boolean;
}

/** A clock that moves only when told. `advance` wakes all sleepers of a moment together, in the order they went to sleep. */
export class ManualClock implements Clock {
  #monotonic = 0;
  #epoch: number;
  #order = 0;
  #sleeping = 0;
  /** How often the event loop had a turn to do what a moment had woken. */
  turns = 0;
  /** A binary heap, the next one first. */
  readonly #heap: Sleeper[] = [];
  /** What is done outside of this clock, by a real program. */
  readonly #held = new Set<Promise<unknown>>();

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
    return this.#sleeping;
  }

  /** The wall clock jumps by `ms` (backwards too); monotonic time and sleepers do not notice. */
  step(ms: number): void {
    this.#epoch += ms;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        if (sleeper.isAwake) return;
        sleeper.isAwake = true;
        this.#sleeping -= 1;
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      this.#order += 1;
      const sleeper: Sleeper = {
        due: this.#monotonic + Math.max(0, ms),
        order: this.#order,
        wake,
        isAwake: false,
      };
      this.#sleeping += 1;
      this.#add(sleeper);
      signal?.addEventListener('abort', wake, { once: true });
    });
  }

  /** Moves time by `ms`, stopping at every sleeper's moment and settling what it wakes. */
  async advance(ms: number): Promise<void> {
    const target = this.#monotonic + ms;
    await this.#settled();
    for (let due = this.#nextDue(); due <= target; due = this.#nextDue()) {
      this.#monotonic = Math.max(this.#monotonic, due);
      while (this.#nextDue() <= this.#monotonic) this.#take().wake();
      this.turns += 1;
      await this.#settled();
    }
    this.#monotonic = target;
    await this.#settled();
  }

  /** Time stands still until the work is over, because a real program does it. */
  holds<Result>(work: Promise<Result>): Promise<Result> {
    const over = () => void this.#held.delete(work);
    this.#held.add(work);
    work.then(over, over);
    return work;
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

  async #settled(): Promise<void> {
    await settle();
    while (this.#held.size > 0) {
      await Promise.allSettled(this.#held);
      await settle();
    }
  }

  #nextDue(): number {
    while (this.#heap[0]?.isAwake) this.#take();
    return this.#heap[0]?.due ?? Number.POSITIVE_INFINITY;
  }

  #add(sleeper: Sleeper): void {
    const heap = this.#heap;
    let index = heap.push(sleeper) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent] as Sleeper;
      if (isBefore(above, sleeper)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = sleeper;
  }

  #take(): Sleeper {
    const heap = this.#heap;
    const first = heap[0] as Sleeper;
    const last = heap.pop() as Sleeper;
    if (heap.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      const [left, right] = [heap[child], heap[child + 1]];
      if (left === undefined) break;
      if (right !== undefined && isBefore(right, left)) child += 1;
      const least = heap[child] as Sleeper;
      if (isBefore(last, least)) break;
      heap[index] = least;
      index = child;
    }
    heap[index] = last;
    return first;
  }
}

function isBefore(one: Sleeper, other: Sleeper): boolean {
  return one.due < other.due || (one.due === other.due && one.order < other.order);
}

/** Lets every promise that can go on go on. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
