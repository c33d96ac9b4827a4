import type { PollResult, ServiceName } from './poll-result.ts';

/** What is polled as a unit and succeeds or fails as a whole, such as one series of one appliance. */
export interface Task {
  /** Unique in the process and stable over restarts, such as `portal/<serial>/cpu_utilization`. */
  readonly id: string;
  readonly api: ServiceName;
  /** The value of the label `operation`, as in `filer_exporter_requests_total`. */
  readonly operation: string;
  /** The appliance that sends the data; undefined if the portal reports about one. */
  readonly appliance?: { readonly serial: string; readonly name: string };
  /**
   * The names in the labels of its samples. If they change, the task is polled before all others of its kind, so that no
   * filer has two names for long.
   */
  readonly names?: string;
  /** How to exclude the task, such as `add -cpu_utilization to PORTAL_SERIES`. */
  readonly without?: string;
  /** Target time between two polls, in milliseconds. */
  readonly intervalMs: number;
  /** Time between two polls while it is suspended, in milliseconds; undefined if it is never suspended. */
  readonly suspendedIntervalMs?: number;
  /** True for tasks with long intervals: a failed poll is repeated soon instead of in its next slot. */
  readonly retriesBeforeSlot?: true;
  /**
   * True for the few tasks that decide what is polled, or concern the whole account: they are polled before all others.
   */
  readonly priority?: true;
  /** The number of requests of one poll; 1 by default. */
  readonly requests?: number;
  /** The id of a task that may explain why this one is rejected; it is polled when a rejection begins or ends. */
  readonly pollAlso?: string;
  /** Whether a poll may change the collector's tasks. */
  readonly discoversTasks?: true;
  /**
   * Polls once, and also returns the minutes after `since`, in epoch milliseconds by the service's clock. Rejects with a
   * RequestError, SchemaError or CredentialError if there is no usable response.
   */
  readonly poll: (signal: AbortSignal, since?: number) => Promise<PollResult>;
  /** The service's time in epoch milliseconds, undefined while it is unknown; missing if it keeps no history. */
  readonly now?: () => number | undefined;
}

export interface Collector {
  readonly api: ServiceName;
  /**
   * The current tasks, in no order. They are read again after each poll of a task with `discoversTasks`. They are
   * created while they are read, because a fleet has so many that reading them takes several turns of the event loop.
   */
  tasks(): Iterable<Task>;
}

/** The metrics that show the state of an appliance. */
export type ApplianceFamilies = Readonly<Record<'up' | 'state' | 'lastRecord', { readonly name: string }>>;
