import type { DropReason, NoteDrop, Sample } from './samples.ts';

/** The name of a service: the value of the label `api`. */
export type Api = string;

/** The content of one answer: samples, and counts of what could not be used. */
export interface Reading {
  /** The current samples. Each sink may iterate over them until the next poll of the task. */
  readonly samples: Iterable<Sample>;
  /**
   * Every value of every record, the oldest first, for a sink that keeps history; missing if there is only the newest.
   */
  readonly points?: Iterable<Sample>;
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

/** What the service keeps of a period that is over. */
export interface Past {
  /** Every value of every record, the oldest first. */
  readonly points: Iterable<Sample>;
  /** How many records could not be used, by reason. */
  readonly drops: ReadonlyMap<DropReason, number>;
}

export class DropCount {
  readonly counts = new Map<DropReason, number>();

  /** Bound, so that it can be passed on. */
  readonly note: NoteDrop = (reason) => {
    this.counts.set(reason, (this.counts.get(reason) ?? 0) + 1);
  };
}
