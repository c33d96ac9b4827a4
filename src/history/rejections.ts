import type { QueuedBin } from './cursors.ts';

/** Why a receiver rejects points, the label `reason` of the dropped points; and what the operator can do. */
export const REJECTIONS = {
  out_of_order: 'let no scrape and no other exporter write the same series: REMOTE_WRITE_LABELS needs a job of its own',
  too_old:
    'set out_of_order_time_window of Prometheus, or the same limit of another receiver, to REMOTE_WRITE_CATCH_UP',
  too_large: 'raise the limit of the receiver, or of a proxy before it, on the size of a request',
  rejected: 'raise the limit that the response names, such as one on labels or series',
} as const satisfies Readonly<Record<string, string>>;

export type RejectionReason = keyof typeof REJECTIONS;

/** With these statuses a receiver says that it will never accept the request. */
const REJECTED: readonly number[] = [400, 409, 413, 415, 422];

/** The text with which Prometheus 2.42 returns 500 for points from before its window, however often they are sent. */
const TOO_OLD = 'too old sample';

/**
 * Returns why a receiver rejects a request; undefined if it may accept the same request later. 401, 403 and 404 are among
 * those, although the protocol counts them as rejections: nothing is lost until the operator corrects a password or a path.
 */
export function rejectionOf(status: number, text: string): RejectionReason | undefined {
  if (status === 500 && text === TOO_OLD) return 'too_old';
  if (!REJECTED.includes(status)) return undefined;
  if (status === 413) return 'too_large';
  // Prometheus, Mimir, Thanos and InfluxDB use these words.
  if (/too.old|out of bounds|beyond retention/i.test(text)) return 'too_old';
  if (/out.of.order|duplicate/i.test(text)) return 'out_of_order';
  return 'rejected';
}

/** What replaces a rejected request. */
export interface Replacement {
  readonly dropped: readonly QueuedBin[];
  readonly requests: readonly (readonly QueuedBin[])[];
}

/**
 * A receiver rejects a whole request for one point. Therefore the tasks of a rejected request are halved until the one that
 * is rejected is alone, and of points that are too old, or older than the receiver's newest, the oldest bin is dropped.
 * Without `isSearching` the tasks are not halved.
 */
export function replace(bins: readonly QueuedBin[], reason: RejectionReason, isSearching: boolean): Replacement {
  const tasks = [...new Set(bins.map(({ cursor }) => cursor))];
  if (reason === 'too_large' && bins.length > 1) {
    const middle = bins.length >> 1;
    return { dropped: [], requests: [bins.slice(0, middle), bins.slice(middle)] };
  }
  if (isSearching && tasks.length > 1 && (reason === 'rejected' || reason === 'out_of_order')) {
    const half = new Set(tasks.slice(tasks.length >> 1));
    return {
      dropped: [],
      requests: [bins.filter(({ cursor }) => !half.has(cursor)), bins.filter(({ cursor }) => half.has(cursor))],
    };
  }
  if (reason === 'too_old' || reason === 'out_of_order') {
    const younger = bins.filter(({ at }) => at !== bins[0]?.at);
    return {
      dropped: bins.filter(({ at }) => at === bins[0]?.at),
      requests: younger.length > 0 ? [younger] : [],
    };
  }
  return { dropped: bins, requests: [] };
}
