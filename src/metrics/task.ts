import type { Api, Reading } from './snapshot.ts';

/** What one poll asks for, and what succeeds or fails whole: one appliance and one series, `/data`, or the inventory. */
export interface Task {
  /** Unique in the process and stable over restarts, as `portal/<serial>/cpu_utilization`. */
  readonly id: string;
  readonly api: Api;
  /** The value of the label `operation`, as in `filer_exporter_requests_total`. */
  readonly operation: string;
  /** The appliance, when it is about one. */
  readonly appliance?: { readonly serial: string; readonly name: string };
  /** Target time between two polls, in milliseconds. */
  readonly intervalMs: number;
  /** Time between two polls while there is nothing to be had, in milliseconds; undefined when it never rests. */
  readonly restMs?: number;
  /** Whether a successful poll may change which tasks the collector has. */
  readonly changesTasks?: true;
  /** Asks once. Rejects with a RequestError, ShapeError or CredentialError when nothing usable came of it. */
  readonly poll: (signal: AbortSignal) => Promise<Reading>;
}

/** Everything that polls one API: which tasks there are now. */
export interface Collector {
  readonly api: Api;
  /** The tasks that should be polled, in no order; asked for again after each poll that `changesTasks`. */
  tasks(): readonly Task[];
}
