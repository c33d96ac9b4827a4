type Fields = Readonly<Record<string, unknown>>;

/** What the services delivered, each thing once: no count of it may be larger. */
export class Deliveries {
  readonly #locks = new Set<string>();
  readonly #propagations = new Set<string>();
  readonly #jobs = new Set<string>();
  /** The jobs that had ended when the exporter first asked are history. */
  #history: ReadonlySet<string> | undefined;

  take(path: string, body: unknown): void {
    if (path.includes('/gfa/v1/data')) this.#takeData(body as Fields);
    if (/\/portal\/jobs(?:\?|$)/.test(path)) this.#takeJobs(body as Fields);
  }

  restarted(isKept: boolean): void {
    this.#history = undefined;
    this.#jobs.clear();
    if (isKept) return;
    this.#locks.clear();
    this.#propagations.clear();
  }

  /** By name of the count, the most that it may be. */
  counts(): Readonly<Record<string, number>> {
    return {
      filer_lock_events_total: this.#locks.size,
      filer_propagation_duration_seconds_count: this.#propagations.size,
      filer_jobs_finished_total: this.#jobs.size,
    };
  }

  #takeData({ metrics }: Fields): void {
    const parts = (Array.isArray(metrics) ? metrics : [metrics]) as readonly Fields[];
    for (const { locks, propagation } of parts) {
      for (const record of (locks ?? []) as readonly unknown[]) this.#locks.add(JSON.stringify(record));
      for (const record of (propagation ?? []) as readonly unknown[]) this.#propagations.add(JSON.stringify(record));
    }
  }

  #takeJobs({ items }: Fields): void {
    const ended = ((items ?? []) as readonly Fields[])
      .filter(({ state }) => state === 'completed' || state === 'failed')
      .map(({ id }) => String(id));
    this.#history ??= new Set(ended);
    for (const id of ended) if (!this.#history.has(id)) this.#jobs.add(id);
  }
}
