import type { DropReason, NoteDrop, Sample } from './samples.ts';

/** The name of a service: the value of the label `api`. */
export type Api = string;

/** What one answer came to: samples, and what could not be used of it. */
export interface Reading {
  /** What is so now. Each sink may go through it, until the poll's next one. */
  readonly samples: Iterable<Sample>;
  /** Every value of every record, the oldest first, for a sink that keeps history; missing where there is but the newest. */
  readonly points?: Iterable<Sample>;
  /** How many values gave no sample, by reason. */
  readonly drops: ReadonlyMap<DropReason, number>;
  /** The answer was good and held no record at all: a series that this appliance does not have, or has nothing to say in. */
  readonly empty: boolean;
  /** Less was there than before, and a second answer is to say whether that is so: it is asked for soon. */
  readonly isDoubtful?: boolean;
  /**
   * When the oldest answer came that it is made of, in monotonic milliseconds; undefined where there was but one, just
   * now. A poll of several requests may last long where limits bind, and what it brings is as old as the first of them.
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

/** Counts drops while an answer is read. */
export class DropCount {
  readonly counts = new Map<DropReason, number>();

  /** One more; bound, so that it can be handed on. */
  readonly note: NoteDrop = (reason) => {
    this.counts.set(reason, (this.counts.get(reason) ?? 0) + 1);
  };
}
