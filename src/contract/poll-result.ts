import type { DropReason, ReportDrop, Sample } from '../metrics/samples.ts';
import { increment } from '../runtime/maps.ts';

/** The name of a service: the value of the label `api`. */
export type ServiceName = string;

/** The content of one response: samples, and counts of what could not be used. */
export interface PollResult {
  /** The current samples. Each sink may iterate over them until the next poll of the task. */
  readonly samples: Iterable<Sample>;
  /** The records that history needs, if it needs any. */
  readonly minutes?: Minutes;
  /** How many values have no sample, by reason. */
  readonly drops: ReadonlyMap<DropReason, number>;
  /** The response was valid and had no record: the appliance does not have this series, or has nothing to report. */
  readonly empty: boolean;
  /**
   * True if the response has fewer objects than before, so that a second response, requested soon, has to confirm it.
   */
  readonly needsConfirmation?: boolean;
  /**
   * When the oldest response of the poll arrived, in monotonic milliseconds; undefined if a single response has just
   * arrived. A poll of several requests can take long at the limits, and its result is as old as its first response.
   */
  readonly respondedAt?: number | undefined;
}

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

export class DropCounter {
  readonly counts = new Map<DropReason, number>();

  /** An arrow function, so that it can be passed on without its object. */
  readonly reportDrop: ReportDrop = (reason) => {
    increment(this.counts, reason);
  };
}
