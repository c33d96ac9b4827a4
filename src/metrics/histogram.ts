import type { Labels } from './family.ts';
import type { Sample } from './samples.ts';

/**
 * Counts values by bound, and never decreases. Without bounds it keeps only sum and count. The sum stays finite, because
 * nothing could be computed from an infinite one.
 */
export class Histogram {
  readonly #bounds: readonly number[];
  /** The number of values in each bucket, not cumulative. The last bucket is above every bound. */
  readonly #counts: number[];
  #sum = 0;

  /** `bounds`: upper limits, included, ascending, without the infinite one. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    const found = this.#bounds.findIndex((bound) => value <= bound);
    const bucket = found === -1 ? this.#bounds.length : found;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum = Math.min(Number.MAX_VALUE, this.#sum + value);
  }

  get count(): number {
    return this.#counts.reduce((sum, count) => sum + count, 0);
  }

  /**
   * Yields the lines `_bucket`, `_sum` and `_count`. The infinite bucket is always there, because a histogram without
   * it is not valid in OpenMetrics.
   */
  *samples(name: string, labels: Labels): Generator<Sample> {
    let below = 0;
    for (const [index, bound] of this.#bounds.entries()) {
      below += this.#counts[index] ?? 0;
      yield { name: `${name}_bucket`, labels: { ...labels, le: formatBound(bound) }, value: below };
    }
    yield { name: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: this.count };
    yield { name: `${name}_sum`, labels, value: this.#sum };
    yield { name: `${name}_count`, labels, value: this.count };
  }
}

/** A bucket's bound in the canonical form of OpenMetrics, `10.0` and not `10`: the same series in both formats. */
export function formatBound(bound: number): string {
  const text = String(bound);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}
