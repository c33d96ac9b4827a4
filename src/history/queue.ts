import type { Sample } from '../metrics/samples.ts';
import { getOrCreate } from '../runtime/maps.ts';
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
export class Queue {
  readonly #binsByTime = new Map<number, QueuedBin[]>();

  add(bin: QueuedBin): void {
    getOrCreate(this.#binsByTime, bin.at, () => []).push(bin);
  }

  /** Removes and returns the bins of the next request: at least one, however many points that has. */
  take(maxPoints: number): readonly QueuedBin[] {
    const taken: QueuedBin[] = [];
    let points = 0;
    const times = [...this.#binsByTime.keys()].sort((one, other) => one - other);
    for (const time of times) {
      if (time - (taken[0]?.at ?? time) >= MAX_REQUEST_MS) break;
      const bins = this.#binsByTime.get(time) ?? [];
      let count = 0;
      for (const { samples } of bins) {
        points += samples.length;
        if (points > maxPoints && taken.length + count > 0) break;
        count += 1;
      }
      taken.push(...bins.splice(0, count));
      if (bins.length > 0) break;
      this.#binsByTime.delete(time);
    }
    return taken;
  }

  *[Symbol.iterator](): Generator<QueuedBin> {
    for (const bins of this.#binsByTime.values()) yield* bins;
  }
}

export function pointsOf(bins: readonly QueuedBin[]): number {
  return bins.reduce((sum, { samples }) => sum + samples.length, 0);
}
