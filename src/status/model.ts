import type { Api } from '../metrics/snapshot.ts';
import type { RestReason } from '../polling/task-state.ts';

/*
 * How things stand, as `/status` shows it and `/api/v1/status` sends it: both are made of one report and of nothing else.
 * The names are a promise (docs/status.md). Times are RFC 3339 in UTC, durations seconds, and what is not known is null.
 */

/** `waiting`: not polled yet. */
export type State = 'up' | 'down' | 'waiting';

/** Everything about one moment. */
export interface StatusReport {
  /** When it was made. */
  readonly time: string;
  readonly version: string;
  readonly revision: string;
  /** The part of the fleet that this instance polls. */
  readonly shard: { readonly index: number; readonly total: number };
  readonly apis: readonly ApiReport[];
  /** By name. */
  readonly appliances: readonly ApplianceReport[];
}

/** One API. */
export interface ApiReport {
  readonly api: Api;
  /** What people call it. */
  readonly title: string;
  readonly state: State;
  readonly url: string;
  readonly lastSuccess: string | null;
  /** Why it is down in a word, as `filer_api_down_info` has it; null while it is not. */
  readonly downReason: string | null;
  /** Why it is down; null while it is not. */
  readonly lastError: string | null;
  readonly token: {
    /** Null where what is sent is a key that does not expire, and while there is no token. */
    readonly expires: string | null;
    readonly kind: 'key' | 'token';
  };
  readonly pace: {
    /** What is allowed now: 0 while everything is held. */
    readonly requestsPerSecond: number;
    /** What pace and budget allow for long. */
    readonly sustainedRequestsPerSecond: number;
    /** Until when nothing is sent, after the service refused; null when nothing is held. */
    readonly heldUntil: string | null;
  };
  readonly limits: {
    readonly requests: number;
    readonly windowSeconds: number;
    /** In any 24 hours; null for no limit. */
    readonly requestsPerDay: number | null;
  };
  /** What is left of the last 24 hours' limit; null without one. */
  readonly budgetRemaining: number | null;
  /** Asked for. */
  readonly intervalSeconds: number;
  /** As the limits allow it. */
  readonly effectiveIntervalSeconds: number;
  /** The last whole round; null before the first has ended. */
  readonly sweepSeconds: number | null;
  readonly dataAge: {
    readonly medianSeconds: number | null;
    readonly worstSeconds: number | null;
    /** What the worst may be while all is well. */
    readonly computedWorstSeconds: number;
  };
  readonly tasks: { readonly total: number; readonly resting: number };
  /** What rests and why, over all tasks, by operation. */
  readonly resting: readonly (RestingTask & { readonly tasks: number })[];
  /** What is asked about the account as a whole and not about one appliance. */
  readonly accountTasks: readonly AccountTaskReport[];
  /** What an operator should know of the account, in whole sentences: that a licence lacks something. */
  readonly notes: readonly string[];
}

/** An operation that is backed off, because it returns no data. */
export interface RestingTask {
  readonly operation: string;
  readonly reason: RestReason;
}

/** An operation that is about no single appliance, as the inventory or `/data`. */
export interface AccountTaskReport {
  readonly operation: string;
  /** One, or one for each volume. */
  readonly tasks: number;
  readonly intervalSeconds: number;
  /** Since the last success of the task that is furthest behind, of those that do not rest; null before the first. */
  readonly dataAgeSeconds: number | null;
  readonly resting: number;
  /** How many failed when they were last polled, and why the last of them did. */
  readonly failing: number;
  readonly lastError: string | null;
}

/** One appliance. */
export interface ApplianceReport {
  readonly name: string;
  readonly serial: string;
  /** `no_records`: it answers, and has no records, as when it is switched off. */
  readonly state: State | 'no_records';
  /** Null while the inventory has not told. */
  readonly type: string | null;
  readonly build: string | null;
  readonly availableBuild: string | null;
  readonly lastPoll: string | null;
  readonly lastSuccess: string | null;
  /** When the newest record was made that any of its series brought. */
  readonly lastRecord: string | null;
  /** Since the last success of the series that is furthest behind, of those that do not rest; null while there is none. */
  readonly dataAgeSeconds: number | null;
  /** How many series are polled of it, those that rest included. */
  readonly series: number;
  readonly resting: readonly RestingTask[];
  /** How many series failed when they were last polled. */
  readonly failing: number;
  /** The latest failure, until that series succeeds again. */
  readonly lastError: { readonly operation: string; readonly time: string; readonly message: string } | null;
}
