import type { DropReason, ReportDrop, Sample } from '../metrics/samples.ts';

/** The name of a service: the value of the label `api`. */
export type ServiceName = string;

/** The content of one answer: samples, and counts of what could not be used. */
export interface PollResult {
  /** The current samples. Each sink may iterate over them until the next poll of the task. */
  readonly samples: Iterable<Sample>;
  /** For a sink that keeps history; missing if there is only the newest record. */
  readonly points?: PeriodPoints;
  /** How many values have no sample, by reason. */
  readonly drops: ReadonlyMap<DropReason, number>;
  /** The answer was valid and without any record: the appliance does not have this series, or has nothing to report. */
  readonly empty: boolean;
  /** The answer has fewer objects than before, and a second one, requested soon, has to confirm that. */
  readonly needsConfirmation?: boolean;
  /**
   * When its oldest answer arrived, in monotonic milliseconds; undefined for a single answer, just now. A poll of
   * several requests can take long at the limits, and its result is as old as the first of them.
   */
  readonly respondedAt?: number | undefined;
}

/** Every value of every record of a period, the oldest first. By the clock of the service, in epoch milliseconds. */
export interface PeriodPoints extends Iterable<Sample> {
  /** When the period was asked for. */
  readonly requestedAt: number;
  /** Where the period that was asked for begins. */
  readonly requestedFrom: number;
  /** Where the answers begin: later than `wanted` if a part could not be had. A bin that begins before is not whole. */
  readonly coveredFrom: number;
  /** Whether the service rejects every period before `from`. */
  readonly earlierRejected: boolean;
}

export interface HistoryResult {
  readonly points: PeriodPoints;
  readonly drops: ReadonlyMap<DropReason, number>;
}

export class DropCounter {
  readonly counts = new Map<DropReason, number>();

  /** Bound, so that it can be passed on. */
  readonly reportDrop: ReportDrop = (reason) => {
    this.counts.set(reason, (this.counts.get(reason) ?? 0) + 1);
  };
}
