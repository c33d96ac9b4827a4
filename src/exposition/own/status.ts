import type { EventReading } from '../../metrics/event-memory.ts';
import type { Api } from '../../metrics/snapshot.ts';
import type { Variant } from '../../metrics/variant.ts';

/** The state of an API at the moment of a scrape; undefined if not known yet. */
export interface ApiStatus {
  readonly api: Api;
  readonly up: boolean;
  /** Why it is down, as one word; undefined while it is up or before the first poll. */
  readonly downReason: string | undefined;
  readonly pacePerSecond: number;
  readonly budgetRemaining: number | undefined;
  /** Requests allowed in 24 hours; undefined without a limit. */
  readonly budgetLimit: number | undefined;
  readonly lastSuccessSeconds: number | undefined;
  readonly sweepSeconds: number | undefined;
  readonly effectiveIntervalSeconds: number;
  readonly configuredIntervalSeconds: number;
  /** The number of backed-off tasks, by reason. */
  readonly resting: ReadonlyMap<string, number>;
  readonly variants: readonly Variant[];
  /** Tasks that have missed more than one poll. */
  readonly overdue: number;
  readonly medianAgeSeconds: number | undefined;
  readonly worstAgeSeconds: number | undefined;
  readonly computedWorstAgeSeconds: number;
}

/** The state of remote write. */
export interface RemoteWriteStatus {
  readonly sent: number;
  /** By reason. */
  readonly dropped: ReadonlyMap<string, number>;
  /** By outcome. */
  readonly holes: ReadonlyMap<string, number>;
  /** Requests by status, or `network`. */
  readonly answers: ReadonlyMap<string, number>;
  /** The time of the newest point that has arrived. */
  readonly newestSeconds: number | undefined;
  /** Points waiting to be sent. */
  readonly waiting: number;
}

/** The state of the exporter at the moment of a scrape. */
export interface ExporterStatus {
  readonly apis: readonly ApiStatus[];
  readonly samples: number;
  /** Undefined without a service of events. */
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
