import type { Window, WindowBins } from '../contract/minutes.ts';

/** Marks what the receiver has of one task. Times are by the service's clock, in epoch milliseconds. */
export interface Cursor {
  readonly task: string;
  /** The newest bin that was delivered. */
  at: number;
  /**
   * The time until which everything that the service returned was delivered. It is later than `at` if the appliance
   * sends nothing.
   */
  seen: number;
  /** Which of the 32 bins up to `at` were delivered; the lowest bit is `at`. */
  bits: number;
  /** Whether the receiver has accepted a request of this task since the start. */
  isAccepted: boolean;
  /** The last bin of a request that was sent before the restart and whose response is not known. */
  sentUntil: number | undefined;
  /**
   * Whether the receiver rejected a request of this task alone; then its requests contain no other task until one is
   * accepted.
   */
  isIsolated: boolean;
  pointsPerBin: number;
  /** The window of the poll in progress. */
  window: Window | undefined;
  /** The number of batches of this task that wait to be sent. */
  batches: number;
  /** The time since which even the shortest period cannot be read. What it contains is given up after an hour. */
  failingSince: number | undefined;
  unreadable: WindowBins['failure'];
  /**
   * When the cursor was first seen ahead of the clock of the service: `since` by the monotonic clock, -Infinity if the
   * cursor was restored, and `now` by the clock of the service.
   */
  ahead: { readonly since: number; readonly now: number } | undefined;
  /** When the task left the inventory, and how long it was away: for that time no data is due. */
  goneAt: number | undefined;
  away: readonly [from: number, to: number] | undefined;
}

/**
 * Returns a cursor of a task with its times, before any delivery. All cursors have the same fields from the beginning,
 * because a copy with one more field costs twice the memory.
 */
export function newCursor(task: string, at: number, seen: number, ahead?: Cursor['ahead']): Cursor {
  return {
    task,
    at,
    seen,
    bits: -1,
    isAccepted: false,
    sentUntil: undefined,
    isIsolated: false,
    pointsPerBin: 8,
    window: undefined,
    batches: 0,
    failingSince: undefined,
    unreadable: undefined,
    ahead,
    goneAt: undefined,
    away: undefined,
  };
}

export type SentTask = readonly [task: string, until: number];

export interface SavedCursors {
  readonly begun: number | null;
  readonly newest: number | null;
  readonly sending: readonly SentTask[];
  readonly cursors: readonly (readonly [task: string, at: number, seen: number])[];
}
