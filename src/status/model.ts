import type { ServiceName } from '../contract/poll-result.ts';
import type { ServiceWarning } from '../contract/service-warning.ts';
import type { Variant } from '../contract/variant.ts';
import type { SuspensionReason } from '../polling/task-facts.ts';
import type { FailureReason } from '../runtime/error-policy.ts';

/** `waiting`: before the first verdict. */
export type UpState = 'up' | 'down' | 'waiting';

/**
 * The status that `/status` shows and `/api/v1/status` sends: both use one report and nothing else. The names are a
 * promise (docs/status.md). Times are RFC 3339 in UTC, durations seconds, and unknown values null.
 */
export interface StatusReport {
  readonly time: string;
  readonly version: string;
  readonly revision: string;
  /** The part of the fleet that this instance polls. */
  readonly shard: { readonly index: number; readonly total: number };
  readonly apis: readonly ApiReport[];
  /** By name. */
  readonly appliances: readonly ApplianceReport[];
}

/** The exporter's own metrics read this too. */
export interface ApiReport {
  readonly api: ServiceName;
  readonly title: string;
  readonly state: UpState;
  readonly url: string;
  readonly lastSuccess: string | null;
  /** Why it is down in a word, as in `filer_api_down_info`; null while it is not down. */
  readonly downReason: string | null;
  readonly lastError: string | null;
  readonly token: {
    /** Null for a key without an expiry, and without a token. */
    readonly expires: string | null;
    readonly kind: 'key' | 'token';
  };
  readonly pace: {
    /** The requests per second allowed now: 0 during a hold. */
    readonly requestsPerSecond: number;
    /** The requests per second that pace and budget sustain. */
    readonly sustainedRequestsPerSecond: number;
    /** When the hold after a 429 ends; null without a hold. */
    readonly waitUntil: string | null;
    /** The service allows clearly less than is configured. */
    readonly throttled: boolean;
  };
  readonly limits: {
    readonly requests: number;
    readonly windowSeconds: number;
    /** In any 24 hours. */
    readonly requestsPerDay: number | null;
  };
  /** What is left of the limit of the last 24 hours; null without one. */
  readonly budgetRemaining: number | null;
  readonly intervalSeconds: number;
  /** As the limits allow it. */
  readonly effectiveIntervalSeconds: number;
  /** The last complete sweep; null before the first has ended. */
  readonly sweepSeconds: number | null;
  readonly dataAge: {
    readonly medianSeconds: number | null;
    readonly worstSeconds: number | null;
    /** The highest age of these while everything is healthy: the effective interval, and half the configured one. */
    readonly computedWorstSeconds: number;
  };
  /** `overdue`: not suspended, of no appliance that is down, and no success for two and a half stretched intervals. */
  readonly tasks: { readonly total: number; readonly suspended: number; readonly overdue: number };
  /** Tasks that are suspended, by operation and reason. */
  readonly suspended: readonly (SuspendedTask & { readonly tasks: number })[];
  readonly accountTasks: readonly AccountTaskReport[];
  /** The undocumented alternatives that the account uses. */
  readonly variants: readonly Variant[];
  /** What the lists of objects lack that decide what is polled. */
  readonly inventoryGaps: readonly InventoryGap[];
  /** How far the service's clock is ahead of that of the exporter; null before several answers. */
  readonly clockSkewSeconds: number | null;
  /** What is to be told of the service in whole sentences, such as a missing licence. */
  readonly notes: readonly string[];
}

/** A list of the inventory that cannot be read, is empty though another is not, or names the same objects otherwise. */
export interface InventoryGap {
  /** `all`: no list names anything. */
  readonly list: string;
  readonly reason: FailureReason | 'empty' | 'other_ids';
  /** A whole sentence, with what to do. */
  readonly message: string;
}

/** An operation that is suspended. */
export interface SuspendedTask {
  readonly operation: string;
  readonly reason: SuspensionReason;
}

/** An operation of no single appliance, such as the inventory or `/data`. */
export interface AccountTaskReport {
  readonly operation: string;
  /** One, or one for each volume. */
  readonly tasks: number;
  readonly intervalSeconds: number;
  /** Since the last success of the oldest task that is not suspended; null before the first. */
  readonly dataAgeSeconds: number | null;
  readonly suspended: number;
  /** How many failed in their last poll, and why the last of them did. */
  readonly failing: number;
  readonly lastError: string | null;
}

export interface ApplianceReport {
  readonly name: string;
  readonly serial: string;
  /** `no_records`: the portal answers and has no records of it, as when it is off. */
  readonly state: UpState | 'no_records';
  /** Null while the inventory has not been read. */
  readonly type: string | null;
  readonly build: string | null;
  readonly availableBuild: string | null;
  readonly lastPoll: string | null;
  readonly lastSuccess: string | null;
  /** Time of the newest record of any of its series. */
  readonly lastRecord: string | null;
  /** Since the last success of the oldest series that is not suspended; null while there is none. */
  readonly dataAgeSeconds: number | null;
  /** How many series are polled, including those that are suspended. */
  readonly series: number;
  readonly suspended: readonly SuspendedTask[];
  /** How many series failed in their last poll. */
  readonly failing: number;
  /** The latest failure, until that series succeeds again. */
  readonly lastError: { readonly operation: string; readonly time: string; readonly message: string } | null;
}

/** The memory of events, and what the service's bookmarks show about lost events. */
export interface EventReading {
  readonly memory: { readonly size: number; readonly evicted: number; readonly limit: number };
  readonly bookmarks: { readonly missed: number; readonly isSuspicious: boolean };
}

/** What the exporter's own metrics are read from at each scrape. */
export interface ExporterStatus {
  readonly apis: readonly ApiReport[];
  readonly samples: number;
  /** Undefined without a service that sends events. */
  readonly events?: EventReading | undefined;
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
  /** By reason. */
  readonly dropped: ReadonlyMap<string, number>;
  /** Seconds by reason. */
  readonly lost: ReadonlyMap<string, number>;
  /** Requests by status, or `network`. */
  readonly answers: ReadonlyMap<string, number>;
  /** The time of the newest point that has arrived. */
  readonly newestSeconds: number | undefined;
  /** Points waiting to be sent. */
  readonly waiting: number;
}

/** What a service tells of itself. */
export interface ServiceDetails {
  /** Seconds until the current token expires, undefined without one; missing if the service accepts a key directly. */
  readonly tokenSecondsLeft?: () => number | undefined;
  readonly inventory?: InventoryDetails;
  readonly notes?: () => readonly ServiceWarning[];
  /** The undocumented alternatives that the account uses. */
  readonly variants?: () => readonly Variant[];
  /** The exporter's own metrics about this service only. */
  readonly events?: () => EventReading;
}

/** What a report reads of an inventory. */
export interface InventoryDetails {
  gaps(): readonly InventoryGap[];
  describe(serial: string): ApplianceDescription | undefined;
}

export interface ApplianceDescription {
  readonly type: string;
  readonly build: string;
  readonly availableBuild: string;
}
