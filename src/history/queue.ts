import type { Sample } from '../metrics/samples.ts';
import type { Cursor } from './cursors.ts';

/** The points of one bin of one task that wait to be sent. */
export interface QueuedBin {
  readonly cursor: Cursor;
  readonly at: number;
  readonly samples: readonly Sample[];
  /** Where the cursor was before: there a process continues that never learns whether the bin has arrived. */
  readonly previous: number;
  /** Whether an earlier process may have sent it. */
  readonly mayHaveArrived: boolean;
}

/**
 * The longest time of one request. A Prometheus rejects a whole request for one point, and in a small fleet the points of
 * hours would fit into one.
 */
const MAX_REQUEST_MS = 600_000;

/** Bins in the order of their times. In the order of their arrival, a receiver would reject the newest together with the oldest. */
export class Queue implements Iterable<QueuedBin> {
  readonly #bins: QueuedBin[] = [];
  #isSorted = true;

  add(bin: QueuedBin): void {
    this.#bins.push(bin);
    this.#isSorted = false;
  }

  /** Removes and returns the bins of the next request. */
  take(maxPoints: number): readonly QueuedBin[] {
    if (!this.#isSorted) this.#bins.sort((one, other) => one.at - other.at);
    this.#isSorted = true;
    const begin = this.#bins[0]?.at ?? 0;
    let points = 0;
    let count = 0;
    for (const { at, samples } of this.#bins) {
      points += samples.length;
      // A request has at least one bin, however many points that has.
      if (count > 0 && (points > maxPoints || at - begin >= MAX_REQUEST_MS)) break;
      count += 1;
    }
    return this.#bins.splice(0, count);
  }

  [Symbol.iterator](): Iterator<QueuedBin> {
    return this.#bins[Symbol.iterator]();
  }
}

export function pointsOf(bins: readonly QueuedBin[]): number {
  return bins.reduce((sum, { samples }) => sum + samples.length, 0);
}
