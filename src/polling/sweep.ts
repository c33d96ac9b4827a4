import type { Task } from '../metrics/task.ts';

/** Measures whole rounds over the tasks of one API: from its start until each task that was there has been polled. */
export class Sweep {
  #startedAt: number | undefined;
  readonly #left = new Set<string>();
  #tasks: readonly Task[] = [];
  #lastSeconds: number | undefined;

  /** How long the last whole round took, in seconds; undefined before the first has ended. */
  get lastSeconds(): number | undefined {
    return this.#lastSeconds;
  }

  /** The tasks are these from now on. Those asked only now and then, as the inventory, are not waited for. */
  changed(tasks: readonly Task[], now: number): void {
    const shortest = tasks.reduce((least, task) => Math.min(least, task.intervalMs), Number.POSITIVE_INFINITY);
    this.#tasks = tasks.filter((task) => task.intervalMs === shortest);
    const there = new Set(this.#tasks.map(({ id }) => id));
    for (const id of this.#left) if (!there.has(id)) this.#left.delete(id);
    if (this.#left.size === 0) this.#begin(now);
  }

  /** A poll of the task has ended, whatever came of it. */
  polled(id: string, now: number): void {
    if (!this.#left.delete(id) || this.#left.size > 0) return;
    if (this.#startedAt !== undefined) this.#lastSeconds = (now - this.#startedAt) / 1000;
    this.#begin(now);
  }

  #begin(now: number): void {
    this.#startedAt = now;
    for (const { id } of this.#tasks) this.#left.add(id);
  }
}

/** Requests per second that polling these tasks at their intervals takes. */
export function demandPerSecond(tasks: Iterable<Task>): number {
  let demand = 0;
  for (const task of tasks) demand += 1000 / task.intervalMs;
  return demand;
}

/** How many times its interval a task has to wait when so much is asked of a pace: 1 where it fits. */
export function stretch(demand: number, allowed: number): number {
  return allowed > 0 && Number.isFinite(allowed) ? Math.max(1, demand / allowed) : 1;
}

/**
 * The worst age that the data of a healthy task can reach, in milliseconds: its interval as the limits stretch it, and
 * half an interval more, for a task's slot comes at least half and at most one and a half of its interval after a poll.
 */
export function worstAgeMs(intervalMs: number, stretched: number): number {
  return intervalMs * (stretched + 0.5);
}
