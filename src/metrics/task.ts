import type { Api, Past, Reading } from './snapshot.ts';

/*
 * The words of the program. One thing has one of them, in code, logs, help texts and commits.
 *
 * target      one installation of a service
 * collector   all tasks of one service, or of a part of it
 * task        what one request polls, and what succeeds or fails whole: one appliance and one series, `/data`, the inventory
 * poll        the exporter asks a service; a scrape is Prometheus asking the exporter
 * sweep       one round over all tasks
 * reading     what one answer came to; a snapshot is the latest one of a task
 * family      one metric with its name, help and upstream fields: one row of a table
 * sample      name, labels, number
 * chunk       one task's lines of one family; a block is the lines that make one buffer
 * pace        what the limits allow now; the budget is what they allow today
 * ledger      the events counted so far
 */

/** What one poll asks for, and what succeeds or fails whole: one appliance and one series, `/data`, the inventory, or one other read operation. */
export interface Task {
  /** Unique in the process and stable over restarts, as `portal/<serial>/cpu_utilization`. */
  readonly id: string;
  readonly api: Api;
  /** The value of the label `operation`, as in `filer_exporter_requests_total`. */
  readonly operation: string;
  /** The appliance, when it is the appliance that answers for itself; not where the portal answers about one. */
  readonly appliance?: { readonly serial: string; readonly name: string };
  /** Target time between two polls, in milliseconds. */
  readonly intervalMs: number;
  /** Time between two polls while there is nothing to be had, in milliseconds; undefined when it never rests. */
  readonly restMs?: number;
  /** Whether it is asked again soon after a failure instead of in its next slot: for what is asked seldom. */
  readonly retriesSoon?: true;
  /** Whether it goes before all others: the few requests that decide what is polled, or speak for the whole account. */
  readonly first?: true;
  /** The id of the task that may say why this one is denied: it is asked when that changes. */
  readonly explainedBy?: string;
  /** Whether a poll may change which tasks the collector has. */
  readonly changesTasks?: true;
  /** Asks once. Rejects with a RequestError, ShapeError or CredentialError when nothing usable came of it. */
  readonly poll: (signal: AbortSignal) => Promise<Reading>;
  /**
   * Asks for the points from one moment up to another, both in milliseconds since the Unix epoch; missing where the service
   * keeps no history. Rejects as `poll` does.
   */
  readonly past?: (from: number, to: number, signal: AbortSignal) => Promise<Past>;
}

/** What polls one API, or a part of it: which tasks there are now. */
export interface Collector {
  readonly api: Api;
  /** The tasks that should be polled, in no order; asked for again after each poll of one that `changesTasks`. */
  tasks(): readonly Task[];
}

/** The names of what is published about each appliance. */
export interface ApplianceNames {
  readonly up: string;
  readonly state: string;
  readonly lastRecord: string;
}
