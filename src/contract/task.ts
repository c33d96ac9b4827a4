import type { Window } from '../contract/minutes.ts';
import type { HistoryResult, PollResult, ServiceName } from './poll-result.ts';

/** One poll, which succeeds or fails as a whole, such as of one appliance and one series. */
export interface Task {
  /** Unique in the process and stable over restarts, such as `portal/<serial>/cpu_utilization`. */
  readonly id: string;
  readonly api: ServiceName;
  /** The value of the label `operation`, as in `filer_exporter_requests_total`. */
  readonly operation: string;
  /** The appliance, if the appliance itself is the source; not if the portal answers about one. */
  readonly appliance?: { readonly serial: string; readonly name: string };
  /** Target time between two polls, in milliseconds. */
  readonly intervalMs: number;
  /** Time between two polls while it is suspended, in milliseconds; undefined if it is never suspended. */
  readonly suspendedIntervalMs?: number;
  /** Whether a failed poll is repeated soon instead of in its next slot: for long intervals. */
  readonly retriesBeforeSlot?: true;
  /** Polled before all others: one of the few that decide what is polled, or concern the whole account. */
  readonly priority?: true;
  /** Requests of one poll; default 1. */
  readonly requests?: number;
  /** The id of the task that may explain a rejection of this one: polled when one begins or ends. */
  readonly pollAlso?: string;
  /** Whether a poll may change the collector's tasks. */
  readonly discoversTasks?: true;
  /** Polls once; also returns the minutes of the window. Rejects with a RequestError, SchemaError or CredentialError if there is no usable response. */
  readonly poll: (signal: AbortSignal, window?: Window) => Promise<PollResult>;
  /** The service's time in epoch milliseconds, undefined while it is unknown; missing if it keeps no history. */
  readonly now?: () => number | undefined;
  /** Between two moments in epoch milliseconds; missing where the service keeps no history. Rejects as `poll` does. */
  readonly readHistory?: (from: number, to: number, signal: AbortSignal) => Promise<HistoryResult>;
}

export interface Collector {
  readonly api: ServiceName;
  /**
   * The current tasks, in no order; read again after each poll of a task that `changesTasks`. They are made while they are
   * read, which may take several turns of the event loop: a fleet has very many.
   */
  tasks(): Iterable<Task>;
}

/** The families of each appliance's state. */
export type ApplianceFamilies = Readonly<Record<'up' | 'state' | 'lastRecord', { readonly name: string }>>;
