import type { Api } from '../../metrics/snapshot.ts';
import type { Variant } from '../../metrics/variant.ts';

/** What an API looks like at the moment of a scrape; undefined where there is nothing to tell yet. */
export interface ApiStatus {
  readonly api: Api;
  readonly up: boolean;
  /** In a word why it is not; undefined while it is, or nothing was asked yet. */
  readonly downReason: string | undefined;
  readonly pacePerSecond: number;
  readonly budgetRemaining: number | undefined;
  /** Requests allowed in 24 hours; undefined without a limit. */
  readonly budgetLimit: number | undefined;
  readonly lastSuccessSeconds: number | undefined;
  readonly sweepSeconds: number | undefined;
  readonly effectiveIntervalSeconds: number;
  readonly configuredIntervalSeconds: number;
  /** How many tasks rest, by reason. */
  readonly resting: ReadonlyMap<string, number>;
  /** Which of its undocumented alternatives the account shows. */
  readonly variants: readonly Variant[];
  /** Tasks that have missed more than one poll. */
  readonly overdue: number;
  readonly medianAgeSeconds: number | undefined;
  readonly worstAgeSeconds: number | undefined;
  readonly computedWorstAgeSeconds: number;
}

/** What has become of the points that are sent by remote write. */
export interface RemoteWriteStatus {
  readonly sent: number;
  /** By reason. */
  readonly dropped: ReadonlyMap<string, number>;
  /** By outcome. */
  readonly holes: ReadonlyMap<string, number>;
  /** Requests by status, or `network`. */
  readonly answers: ReadonlyMap<string, number>;
  /** Of the newest point that has arrived. */
  readonly newestSeconds: number | undefined;
  /** Points that wait to be sent. */
  readonly waiting: number;
}

/** What the exporter looks like at the moment of a scrape. */
export interface ExporterStatus {
  readonly apis: readonly ApiStatus[];
  readonly samples: number;
  readonly eventMemory:
    | {
        readonly size: number;
        readonly evicted: number;
        readonly limits: { readonly perPair: number; readonly total: number };
      }
    | undefined;
  /** What the file acceleration service's bookmarks say of events that never came. */
  readonly bookmarks?: { readonly missed: number; readonly isSuspicious: boolean } | undefined;
  /** How the state file fares; undefined without one. */
  readonly state?: { readonly errors: number } | undefined;
  /** How the web configuration fares; undefined without one. */
  readonly web?:
    | {
        readonly isGood: boolean;
        readonly lastSuccessSeconds: number;
        readonly expirySeconds: number | undefined;
        readonly hasTls: boolean;
        readonly hasAuth: boolean;
      }
    | undefined;
  /** Undefined where nothing is sent by remote write. */
  readonly remoteWrite?: RemoteWriteStatus | undefined;
  /** Connections closed against the will of the client, by reason. */
  readonly closed?: ReadonlyMap<string, number>;
}
