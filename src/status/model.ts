import type { Explanation } from '../contract/causes.ts';
import type { OwnValues } from '../contract/own-metric.ts';
import type { ServiceName } from '../contract/poll-result.ts';
import type { InventoryGap } from '../contract/service-details.ts';
import type { ServiceWarning } from '../contract/service-warning.ts';
import type { Labels } from '../metrics/family.ts';
import type { SuspensionReason } from '../polling/task-state.ts';

/** `waiting` until the first verdict. */
export type UpState = 'up' | 'down' | 'waiting';

/**
 * The status that `/status` shows and `/api/v1/status` sends: both use one report and nothing else. A name changes only
 * with a line in the changelog (docs/status.md). Times are RFC 3339 in UTC, durations are in seconds, and unknown values
 * are null.
 */
export interface StatusReport {
  readonly time: string;
  readonly version: string;
  readonly revision: string;
  readonly apis: readonly ApiReport[];
  /** Sorted by name. */
  readonly appliances: readonly ApplianceReport[];
}

/** One service. The metrics about the exporter read this too. */
export interface ApiReport {
  readonly api: ServiceName;
  readonly title: string;
  readonly state: UpState;
  readonly url: string;
  readonly lastSuccess: string | null;
  /** The reason why the service is down, as in `filer_api_down_info`; null while it is not down. */
  readonly downReason: string | null;
  readonly lastError: string | null;
  /** Why it is down, and what to do; null while it is not down. */
  readonly cause: Explanation | null;
  readonly token: {
    /** When the token expires; null without a token, and for a key that does not expire. */
    readonly expires: string | null;
    readonly kind: 'key' | 'token';
  };
  readonly pace: {
    /** The requests per second that are allowed now; 0 during a wait. */
    readonly requestsPerSecond: number;
    /** The requests per second that the request rate and the daily quota sustain. */
    readonly sustainedRequestsPerSecond: number;
    /** The requests that wait for a response. */
    readonly requestsInFlight: number;
    /** When the wait after a 429 ends; null without a wait. */
    readonly waitUntil: string | null;
    /** True if the service allows clearly fewer requests than configured. */
    readonly throttled: boolean;
  };
  readonly limits: {
    readonly requests: number;
    readonly windowSeconds: number;
    /** The limit in any 24 hours; null without one. */
    readonly requestsPerDay: number | null;
  };
  /** The remaining daily quota, in requests; null without a limit. */
  readonly budgetRemaining: number | null;
  readonly intervalSeconds: number;
  /** The interval that the limits allow. */
  readonly effectiveIntervalSeconds: number;
  /** The duration of the last complete cycle; null before the first has ended. */
  readonly sweepSeconds: number | null;
  readonly dataAge: {
    readonly medianSeconds: number | null;
    readonly worstSeconds: number | null;
    /** The highest age that a healthy service explains: the effective interval, and half the configured one. */
    readonly computedWorstSeconds: number;
  };
  /**
   * `overdue` counts tasks that are not suspended, belong to no appliance that is down, and had no success for two and
   * a half effective intervals.
   */
  readonly tasks: { readonly total: number; readonly suspended: number; readonly overdue: number };
  /** Tasks that are suspended, by operation and reason. */
  readonly suspended: readonly (SuspendedTask & { readonly tasks: number })[];
  readonly accountTasks: readonly AccountTaskReport[];
  /** The gaps in the lists that decide what is polled. */
  readonly inventoryGaps: readonly InventoryGap[];
  /** How far the service's clock is ahead of the exporter's; null before several responses. */
  readonly clockSkewSeconds: number | null;
  /** Warnings about the service, such as a missing licence, without the cause above. */
  readonly warnings: readonly ServiceWarning[];
}

/** An operation that is suspended. */
export interface SuspendedTask {
  readonly operation: string;
  readonly reason: SuspensionReason;
}

/** An operation of the account, such as the inventory or `/data`. */
export interface AccountTaskReport {
  readonly operation: string;
  /** 1, or the number of volumes if there is a task for each. */
  readonly tasks: number;
  readonly intervalSeconds: number;
  /** The seconds since the last success of the oldest task that is not suspended; null before the first. */
  readonly dataAgeSeconds: number | null;
  readonly suspended: number;
  /** How many tasks failed in their last poll. `lastError` says why the last of them did. */
  readonly failing: number;
  readonly lastError: string | null;
  /** What to do about the last error. */
  readonly advice: string | null;
}

export interface ApplianceReport {
  readonly name: string;
  readonly serial: string;
  /**
   * `no_records` if the portal responds and has no records of the appliance, for example because it is off; `unknown` if
   * the appliance cannot be polled because the portal is down.
   */
  readonly state: UpState | 'no_records' | 'unknown';
  /** Null while the inventory has not been read. */
  readonly type: string | null;
  readonly build: string | null;
  readonly availableBuild: string | null;
  readonly lastPoll: string | null;
  readonly lastSuccess: string | null;
  /** The time of the newest record of any series. */
  readonly lastRecord: string | null;
  /** The seconds since the last success of the oldest series that is not suspended; null while there is none. */
  readonly dataAgeSeconds: number | null;
  /** How many series are polled, including those that are suspended. */
  readonly series: number;
  readonly suspended: readonly SuspendedTask[];
  /** How many series failed in their last poll. */
  readonly failing: number;
  /** The latest failure; null after that series has succeeded again. */
  readonly lastError: {
    readonly operation: string;
    readonly time: string;
    readonly message: string;
    readonly advice: string;
  } | null;
}

/** The values of the metrics about the exporter, which each scrape reads. */
export interface ExporterStatus {
  readonly apis: readonly ApiReport[];
  readonly samples: number;
  /** The labels of the active warnings. */
  readonly warnings: readonly Labels[];
  /** The metrics that only one service has. */
  readonly own: OwnValues;
  /** Undefined without a state file. */
  readonly state?: { readonly errors: number } | undefined;
  /** Undefined without a web configuration file. */
  readonly web?:
    | {
        readonly isGood: boolean;
        readonly lastSuccessSeconds: number;
        readonly expirySeconds: number | undefined;
        readonly hasTls: boolean;
        readonly hasAuth: boolean;
      }
    | undefined;
  /** Undefined without remote write. */
  readonly remoteWrite?: RemoteWriteStatus | undefined;
  /** Connections closed by the server, by reason. */
  readonly closed?: ReadonlyMap<string, number>;
}

export interface RemoteWriteStatus {
  readonly sent: number;
  /** Dropped points by reason. */
  readonly dropped: ReadonlyMap<string, number>;
  /** Lost seconds by reason. */
  readonly lost: ReadonlyMap<string, number>;
  /** Requests by HTTP status, or `network`. */
  readonly responses: ReadonlyMap<string, number>;
  /** The time of the newest point that the receiver has accepted. */
  readonly newestSeconds: number | undefined;
  /** Points waiting to be sent. */
  readonly waiting: number;
}
