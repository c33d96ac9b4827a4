import type { Sample } from '../metrics/samples.ts';

/** What a poll has read for history. Times are by the clock of the service, in epoch milliseconds. */
export interface Minutes {
  /** Oldest first. */
  readonly bins: Iterable<Bin>;
  /** The time of the request. */
  readonly now: number;
  /** What the service has before this time is in `bins`. */
  readonly until: number;
  /** The service cannot return anything before this time, so it is not requested again. */
  readonly unreadUntil?: number | undefined;
}

/** One record of a series, which is a minute by default. */
export interface Bin {
  /** The beginning of the bin. */
  readonly at: number;
  readonly samples: () => readonly Sample[];
}
