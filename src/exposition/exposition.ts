import type { DropReason, Sample } from '../metrics/samples.ts';
import type { Clock } from '../runtime/clock.ts';
import { runInSlices, runToEnd } from '../runtime/slices.ts';
import type { Format } from './format.ts';
import type { PreparedLines } from './line-writer.ts';
import type { ExpositionSnapshot } from './snapshot.ts';
import type { LineStore } from './store.ts';

/** The lines of the data of the services: they are written when a response arrives and sent unchanged to every scrape. */
export class Exposition {
  readonly #store: LineStore;
  readonly #clock: Clock;
  readonly #maxBytes: number;

  /** `maxBytes` limits all lines together, including those that are about to be replaced. */
  constructor(store: LineStore, clock: Clock, maxBytes = Number.POSITIVE_INFINITY) {
    this.#store = store;
    this.#clock = clock;
    this.#maxBytes = maxBytes;
  }

  get samples(): number {
    return this.#store.samples;
  }

  get version(): number {
    return this.#store.version;
  }

  /**
   * Replaces the task's samples: writes the new lines in slices, then exposes all of them at once. Resolves with
   * the number of corrections by reason. If there is no memory for the lines, it rejects with a RequestError `oversize`, and
   * the previous samples stay.
   */
  async accept(task: string, samples: Iterable<Sample>): Promise<ReadonlyMap<DropReason, number>> {
    const maxBytes = Math.max(0, this.#maxBytes - this.#store.bytes);
    return this.#replace(task, await runInSlices(this.#store.prepare(samples, maxBytes), this.#clock));
  }

  /** Replaces the samples without slices, for a task with few samples. */
  publish(task: string, samples: Iterable<Sample>): ReadonlyMap<DropReason, number> {
    return this.#replace(task, runToEnd(this.#store.prepare(samples)));
  }

  withdraw(task: string, keepsCounts = false): void {
    this.#store.withdraw(task, keepsCounts);
  }

  snapshot(format: Format): ExpositionSnapshot {
    return this.#store.snapshot(format);
  }

  #replace(task: string, { lines, corrected: { cut, duplicates } }: PreparedLines): ReadonlyMap<DropReason, number> {
    this.#store.replace(task, lines);
    const corrected = new Map<DropReason, number>();
    if (cut > 0) corrected.set('label', cut);
    if (duplicates > 0) corrected.set('duplicate', duplicates);
    return corrected;
  }
}
