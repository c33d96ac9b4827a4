import type { PeriodPoints } from '../../src/contract/poll-result.ts';
import type { Sample } from '../../src/metrics/samples.ts';

/** What one answer gives that covers everything from one moment to another, by the service's clock. */
export function pointsSince(from: number, askedAt: number, samples: Iterable<Sample>): PeriodPoints {
  return {
    requestedAt: askedAt,
    requestedFrom: from,
    coveredFrom: from,
    earlierRejected: false,
    [Symbol.iterator]: () => samples[Symbol.iterator](),
  };
}
