import type { DropReason, Sample } from '../metrics/samples.ts';
import type { Clock } from '../runtime/clock.ts';
import { runInSlices, runToEnd } from '../runtime/slices.ts';
import type { Format } from './format.ts';
import type { PreparedLines } from './line-writer.ts';
import type { ExpositionSnapshot } from './snapshot.ts';
import type { LineStore } from './store.ts';

/** The lines of upstream data: written when an answer arrives, sent unchanged to every scrape. */
export class Exposition {
  readonly #store: LineStore;
  readonly #clock: Clock;
  readonly #maxBytes: number;

  /** `maxBytes`: the limit for all lines, including those that are about to be replaced. */
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
   * Replaces the task's samples: writes the new lines in slices, then exposes all of them at once. Resolves with what had
   * to be corrected, by reason. Rejects with a RequestError `oversize` if there is no memory for the lines; then the previous
   * samples stay.
   */
  async accept(task: string, samples: Iterable<Sample>): Promise<ReadonlyMap<DropReason, number>> {
    const maxBytes = Math.max(0, this.#maxBytes - this.#store.bytes);
    return this.#replace(task, await runInSlices(this.#store.prepare(samples, maxBytes), this.#clock));
  }

  /** The same at once, for a few samples. */
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
