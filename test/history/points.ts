import type { Sample } from '../../src/metrics/samples.ts';
import type { Points } from '../../src/metrics/snapshot.ts';

/** What one answer gives that covers everything from one moment to another, by the service's clock. */
export function pointsSince(from: number, askedAt: number, samples: Iterable<Sample>): Points {
  return { askedAt, wanted: from, from, isOldest: false, [Symbol.iterator]: () => samples[Symbol.iterator]() };
}
