import type { Bin, WindowBins } from '../contract/minutes.ts';
import type { DropReason, ReportDrop, Sample } from '../metrics/samples.ts';

/** The name of a service: the value of the label `api`. */
export type ServiceName = string;

/** The content of one response: samples, and counts of what could not be used. */
export interface PollResult {
  /** The current samples. Each sink may iterate over them until the next poll of the task. */
  readonly samples: Iterable<Sample>;
  /** For a sink that keeps history: the records of the window that it asked for. */
  readonly minutes?: WindowBins;
  /** How many values have no sample, by reason. */
  readonly drops: ReadonlyMap<DropReason, number>;
  /** The response was valid and without any record: the appliance does not have this series, or has nothing to report. */
  readonly empty: boolean;
  /** The response has fewer objects than before, and a second one, requested soon, has to confirm that. */
  readonly needsConfirmation?: boolean;
  /**
   * When its oldest response arrived, in monotonic milliseconds; undefined for a single response, just now. A poll of
   * several requests can take long at the limits, and its result is as old as the first of them.
   */
  readonly respondedAt?: number | undefined;
}

/** The records of a period, oldest first. Times are by the clock of the service, in epoch milliseconds. */
export interface HistoryResult {
  readonly bins: Iterable<Bin>;
  /** Where the responses begin: later than requested if the service rejects every earlier period. */
  readonly from: number;
  readonly drops: ReadonlyMap<DropReason, number>;
}

export class DropCounter {
  readonly counts = new Map<DropReason, number>();

  /** Bound, so that it can be passed on. */
  readonly reportDrop: ReportDrop = (reason) => {
    this.counts.set(reason, (this.counts.get(reason) ?? 0) + 1);
  };
}
