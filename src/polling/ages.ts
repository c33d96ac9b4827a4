/** How old the data of some tasks is, in seconds. */
export interface AgeSummary {
  readonly medianSeconds: number;
  readonly worstSeconds: number;
}

/** When each task last brought something. Monotonic milliseconds. */
export class DataAges {
  readonly #confirmed = new Map<string, number>();
  /** Since when each task is known. */
  readonly #since = new Map<string, number>();

  /** The task is polled from now on, where it is not yet. */
  await(id: string, now: number): void {
    if (!this.#since.has(id)) this.#since.set(id, now);
  }

  /** A poll of the task succeeded; what it brought is as new as `at`. */
  confirm(id: string, at: number): void {
    this.#confirmed.set(id, at);
  }

  /** The task is gone. */
  forget(id: string): void {
    this.#confirmed.delete(id);
    this.#since.delete(id);
  }

  /** How many of these tasks brought nothing for longer than they may, in milliseconds: since their last success, or since they are known. */
  overdue(tasks: readonly { readonly id: string; readonly mayMs: number }[], now: number): number {
    return tasks.filter(({ id, mayMs }) => now - (this.#confirmed.get(id) ?? this.#since.get(id) ?? now) > mayMs)
      .length;
  }

  /** Milliseconds since the task last brought something; undefined before it did. */
  ageMs(id: string, now: number): number | undefined {
    const at = this.#confirmed.get(id);
    return at === undefined ? undefined : now - at;
  }

  /** The ages of these tasks; those that never brought anything have none. Undefined when that is all of them. */
  summary(ids: readonly string[], now: number): AgeSummary | undefined {
    const ages = new Float64Array(ids.length);
    let found = 0;
    for (const id of ids) {
      const at = this.#confirmed.get(id);
      if (at === undefined) continue;
      ages[found] = now - at;
      found += 1;
    }
    const sorted = ages.subarray(0, found).sort();
    const median = sorted[Math.floor(found / 2)];
    const worst = sorted.at(-1);
    if (median === undefined || worst === undefined) return undefined;
    return { medianSeconds: median / 1000, worstSeconds: worst / 1000 };
  }
}
