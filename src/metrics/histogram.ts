import type { Labels } from './family.ts';
import { keptCount, keptNumber } from './restored-values.ts';
import type { Sample } from './samples.ts';

export interface HistogramSettings {
  /** Ascending; empty for sum and count only. */
  readonly bounds: readonly number[];
  readonly boundText: (bound: number) => string;
}

/** Counts values by bound; never decreases. Without bounds it keeps sum and count only. */
export class Histogram {
  readonly #bounds: readonly number[];
  /** How many values fell into each bucket, not cumulative; the last is above every bound. */
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  /** `bounds`: upper limits, included, ascending, without the infinite one. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    const found = this.#bounds.findIndex((bound) => value <= bound);
    const bucket = found === -1 ? this.#bounds.length : found;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
    this.#count += 1;
  }

  get count(): number {
    return this.#count;
  }

  /**
   * Its lines under a family's name: `_bucket` with the label `le` as `boundText` writes it, then `_sum` and `_count`.
   * Always has the infinite bucket, without which a histogram is not valid in OpenMetrics.
   */
  *samples(name: string, labels: Labels, boundText: (bound: number) => string): Generator<Sample> {
    let total = 0;
    for (const [index, bound] of this.#bounds.entries()) {
      total += this.#counts[index] ?? 0;
      yield { name: `${name}_bucket`, labels: { ...labels, le: boundText(bound) }, value: total };
    }
    yield { name: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: this.#count };
    yield { name: `${name}_sum`, labels, value: this.#sum };
    yield { name: `${name}_count`, labels, value: this.#count };
  }

  state(): HistogramState {
    return { bounds: this.#bounds, counts: [...this.#counts], sum: this.#sum };
  }

  /**
   * A histogram with the counts of a saved one. If the operator has changed the bounds, the values of an old bucket
   * count at its upper bound, which keeps sum and count right. Throws a TypeError if a value is not a number.
   */
  static restore(bounds: readonly number[], saved: HistogramState): Histogram {
    const histogram = new Histogram(bounds);
    for (const [index, count] of saved.counts.entries()) {
      const upper = saved.bounds[index] ?? Number.POSITIVE_INFINITY;
      const found = bounds.findIndex((bound) => upper <= bound);
      const bucket = found === -1 ? bounds.length : found;
      histogram.#counts[bucket] = (histogram.#counts[bucket] ?? 0) + keptCount(count);
      histogram.#count += count;
    }
    histogram.#sum = keptNumber(saved.sum);
    return histogram;
  }
}

/** A histogram's counts, as saved in the state file. */
export interface HistogramState {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number;
}
