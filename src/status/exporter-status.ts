import type { OwnValues } from '../contract/service-details.ts';
import type { ApiReport } from './report.ts';

/** The values of the metrics about the exporter, which each scrape reads. */
export interface ExporterStatus {
  readonly apis: readonly ApiReport[];
  readonly samples: number;
  /** The metrics that only one service has. */
  readonly own: OwnValues;
  /** Undefined without a state file. */
  readonly state?: { readonly errors: number } | undefined;
  /** Undefined without a web configuration file. */
  readonly web?: WebStatus | undefined;
  /** Undefined without remote write. */
  readonly remoteWrite?: RemoteWriteStatus | undefined;
  /** Connections closed by the server, by reason. */
  readonly closed?: ReadonlyMap<string, number>;
}

export interface WebStatus {
  /** Whether the files are in effect as they are now. */
  readonly isGood: boolean;
  readonly lastSuccessSeconds: number;
  /** Undefined without TLS. */
  readonly expirySeconds: number | undefined;
  readonly hasTls: boolean;
  readonly hasAuth: boolean;
}

interface RemoteWriteStatus {
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
