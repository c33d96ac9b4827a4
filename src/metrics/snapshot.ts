import type { DropReason, NoteDrop, Sample } from './samples.ts';

/** The name of a service: the value of the label `api`. */
export type Api = string;

/** The content of one answer: samples, and counts of what could not be used. */
export interface Reading {
  /** The current samples. Each sink may iterate over them until the next poll of the task. */
  readonly samples: Iterable<Sample>;
  /** For a sink that keeps history; missing if there is only the newest record. */
  readonly points?: Points;
  /** How many values have no sample, by reason. */
  readonly drops: ReadonlyMap<DropReason, number>;
  /** The answer was valid and without any record: the appliance does not have this series, or has nothing to report. */
  readonly empty: boolean;
  /** The answer has fewer objects than before, and a second one, requested soon, has to confirm that. */
  readonly isDoubtful?: boolean;
  /**
   * When its oldest answer arrived, in monotonic milliseconds; undefined for a single answer, just now. A poll of
   * several requests can take long at the limits, and its result is as old as the first of them.
   */
  readonly answeredAt?: number | undefined;
}

/** Every value of every record of a period, the oldest first. By the clock of the service, in epoch milliseconds. */
export interface Points extends Iterable<Sample> {
  /** When the period was asked for. */
  readonly askedAt: number;
  /** Where the period that was asked for begins. */
  readonly wanted: number;
  /** Where the answers begin: later than `wanted` if a part could not be had. A bin that begins before is not whole. */
  readonly from: number;
  /** Whether the service rejects every period before `from`. */
  readonly isOldest: boolean;
}

export interface Past {
  readonly points: Points;
  readonly drops: ReadonlyMap<DropReason, number>;
}

export class DropCount {
  readonly counts = new Map<DropReason, number>();

  /** Bound, so that it can be passed on. */
  readonly note: NoteDrop = (reason) => {
    this.counts.set(reason, (this.counts.get(reason) ?? 0) + 1);
  };
}
