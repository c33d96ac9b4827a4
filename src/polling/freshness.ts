import type { Api } from '../metrics/snapshot.ts';
import type { Task } from '../metrics/task.ts';

/**
 * Which snapshots are still fresh: one not confirmed for `staleAfter` of its task's intervals is not. Intervals as the
 * limits allow them: where a sweep takes longer than the interval asked for, the longer one counts. Monotonic
 * milliseconds.
 */
export class Freshness {
  readonly #staleAfter: number;
  readonly #stretchOf: (api: Api) => number;
  readonly #confirmed = new Map<string, { readonly task: Task; readonly at: number }>();

  /** `stretchOf`: how many times its interval the limits make of the time between two polls of an API's tasks, 1 where they allow it. */
  constructor(staleAfter: number, stretchOf: (api: Api) => number) {
    this.#staleAfter = staleAfter;
    this.#stretchOf = stretchOf;
  }

  /** What the task brought is as new as `at`. */
  confirm(task: Task, at: number): void {
    this.#confirmed.set(task.id, { task, at });
  }

  /** The task's snapshot is gone for another reason. */
  forget(id: string): void {
    this.#confirmed.delete(id);
  }

  /** The tasks whose snapshot must not be served any more; each is told once. */
  expire(now: number): readonly string[] {
    const expired: string[] = [];
    // Asked once for each API: it is a sum over all of its tasks.
    const stretched = new Map<Api, number>();
    for (const [id, { task, at }] of this.#confirmed) {
      const times = stretched.get(task.api) ?? this.#stretchOf(task.api);
      stretched.set(task.api, times);
      if (now - at > this.#staleAfter * task.intervalMs * times) expired.push(id);
    }
    for (const id of expired) this.#confirmed.delete(id);
    return expired;
  }
}
