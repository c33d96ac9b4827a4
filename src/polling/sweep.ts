import type { Task } from '../metrics/task.ts';

/**
 * Measures whole rounds over the tasks of one API: from its start until each task that has data has been polled. What
 * is asked only now and then is not waited for: the inventory, longer intervals, and tasks that last had nothing to give.
 */
export class Sweep {
  #startedAt = 0;
  readonly #left = new Set<string>();
  readonly #idle = new Set<string>();
  #tasks: readonly Task[] = [];
  #lastSeconds: number | undefined;

  /** How long the last whole round took, in seconds; undefined before the first has ended. */
  get lastSeconds(): number | undefined {
    return this.#lastSeconds;
  }

  /** The tasks are these from now on. */
  changed(tasks: readonly Task[], now: number): void {
    const asked = dataTasks(tasks);
    const shortest = asked.reduce((least, task) => Math.min(least, task.intervalMs), Number.POSITIVE_INFINITY);
    this.#tasks = asked.filter((task) => task.intervalMs === shortest);
    const there = new Set(this.#tasks.map(({ id }) => id));
    for (const set of [this.#left, this.#idle]) for (const id of set) if (!there.has(id)) set.delete(id);
    if (this.#left.size === 0) this.#begin(now);
  }

  /** A poll of the task has ended; `hasData` unless the service said that there is nothing to be had. */
  polled(id: string, hasData: boolean, now: number): void {
    if (hasData) this.#idle.delete(id);
    else this.#idle.add(id);
    if (!this.#left.delete(id) || this.#left.size > 0) return;
    this.#lastSeconds = (now - this.#startedAt) / 1000;
    this.#begin(now);
  }

  #begin(now: number): void {
    this.#startedAt = now;
    for (const { id } of this.#tasks) if (!this.#idle.has(id)) this.#left.add(id);
  }
}

/**
 * The tasks that bring the data whose age and rounds people ask about: the series of appliances. Where there are none,
 * all but those that only say what else there is.
 */
export function dataTasks(tasks: readonly Task[]): readonly Task[] {
  const series = tasks.filter(({ appliance }) => appliance !== undefined);
  return series.length > 0 ? series : tasks.filter(({ changesTasks }) => !changesTasks);
}

/** Requests per second that polling these tasks takes: at their intervals, and at rest at those. */
export function demandPerSecond(tasks: Iterable<Task>, rests: (task: Task) => boolean = () => false): number {
  let demand = 0;
  for (const task of tasks) demand += 1000 / (rests(task) ? (task.restMs ?? task.intervalMs) : task.intervalMs);
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
