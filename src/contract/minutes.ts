import type { ReportDrop, Sample } from '../metrics/samples.ts';

/**
 * The minutes that history requests from a task with its next poll. Times begin a bin, in epoch milliseconds by the
 * service's clock.
 */
export interface Window {
  /** The first bin that is requested. */
  readonly start: number;
  /** The first bin that the receiver accepts: later than `start` if it rejects older ones. */
  readonly from: number;
  /** The end of the window, which does not belong to it. */
  readonly to: number;
  /** Why bins before `start` are skipped; undefined if none are. */
  readonly skips?: LossReason | undefined;
}

/** The longest period from the start of a window until now that one request covers, together with the newest minutes. */
export const MAX_COMBINED_MS = 6 * 3_600_000;

/**
 * Why bins are never sent. `catch_up`: they are older than REMOTE_WRITE_CATCH_UP. `too_old`: the receiver rejects bins of
 * that age. `rejected`: the service rejects every period with them. `unread`: the service fails for an hour on this period.
 */
export type LossReason = 'catch_up' | 'too_old' | 'rejected' | 'unread';

/** One record of a series. */
export interface Bin {
  /** The beginning of the bin, in epoch milliseconds. */
  readonly at: number;
  readonly samples: (reportDrop: ReportDrop) => readonly Sample[];
}

/** The records of a window, oldest first. */
export interface WindowBins extends Iterable<Bin> {
  /** By the service's clock, in epoch milliseconds. */
  readonly requestedAt: number;
  /** The end of what the service returned completely: the end of the window, or earlier. */
  readonly to: number;
  /**
   * Set if even the shortest period at the start of the window could not be read. History may continue from `until`.
   */
  readonly failure?: { readonly reason: 'rejected' | 'unread'; readonly until: number } | undefined;
}
