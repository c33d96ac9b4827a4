import type { Secret } from '../runtime/secret.ts';
import type { OwnFile } from './secret-files.ts';

/*
 * The configuration in the program's own words: grouped, durations in milliseconds, URLs checked, secrets in a type that
 * does not print. What the operator writes is in variables.ts; load.ts translates the one into the other.
 */

/** Everything the operator decides, settled once at the start. */
export interface Config {
  /** The file acceleration telemetry service; undefined when it is not polled. */
  readonly gfa: GfaConfig | undefined;
  /** The portal service; undefined when it is not polled. */
  readonly portal: PortalConfig | undefined;
  readonly requests: RequestsConfig;
  /** The files that only their owner is to change: those with secrets that variables name, and `.env` where it is there. */
  readonly ownFiles: readonly OwnFile[];
  /** A value that has not been confirmed for this many intervals leaves the exposition. */
  readonly staleAfter: number;
  readonly events: EventsConfig;
  /** Which filers are one, and what filers are called, as the operator says; empty for nothing. */
  readonly filerAliases: readonly FilerAlias[];
  /** Where event counters outlive the process; undefined keeps them in memory alone. */
  readonly stateFile: string | undefined;
  readonly shard: ShardConfig;
  readonly web: WebConfig;
  readonly shutdownTimeoutMs: number;
  readonly log: LogConfig;
}

/** One of the groups of records that `GET /data` can bring. */
export type GfaGroup = 'filers' | 'volumes' | 'locks' | 'propagation';

/** How the file acceleration telemetry service is polled. */
export interface GfaConfig {
  /** Base URL, ending in `/v1`, without a slash behind it. */
  readonly url: string;
  readonly token: Secret;
  readonly clientKey: string;
  readonly clientKeyHeader: string;
  readonly intervalMs: number;
  /** The groups to ask for; the others are switched off in the query. */
  readonly groups: readonly GfaGroup[];
}

/** How the portal service is polled. */
export interface PortalConfig {
  /** Base URL without a slash behind it. */
  readonly url: string;
  readonly credentials: PortalCredentials;
  readonly intervalMs: number;
  /** Whether every series is polled at `intervalMs`, or one that tells the most, and the others at `fullIntervalMs`. */
  readonly mode: PortalMode;
  readonly fullIntervalMs: number;
  readonly discoveryIntervalMs: number;
  /** The appliances to poll, in lower case, each once; undefined polls all that are discovered. */
  readonly serials: readonly string[] | undefined;
  /** The series to poll, in the catalogue's order; empty only where the collector `telemetry` is off. */
  readonly series: readonly PortalSeries[];
  /** The series as either mode would have them: `series` is that of `mode`. */
  readonly seriesByMode: Readonly<Record<PortalMode, readonly PortalSeries[]>>;
  readonly lookbackMs: number;
  readonly binSizeSeconds: number;
  readonly rateLimit: RateLimit;
  /** Requests in 24 hours at most; undefined for no limit. */
  readonly dailyLimit: number | undefined;
  /** The collectors that are switched on, in the catalogue's order; never empty. */
  readonly collectors: readonly PortalCollectorChoice[];
}

/** One collector of the portal and the time between two of its polls. */
export interface PortalCollectorChoice {
  readonly name: string;
  readonly intervalMs: number;
}

/** How often the series are polled: all alike, or one often and the rest seldom. */
export type PortalMode = 'full' | 'economy';

/** One series of the portal and the time between two polls of it for the same appliance. */
export interface PortalSeries {
  readonly name: string;
  readonly intervalMs: number;
}

/** What the token is bought with. `oauth2` sends the pair in a form body, `service_key` in headers. */
export type PortalCredentials =
  | { readonly kind: 'oauth2' | 'service_key'; readonly key: Secret; readonly secret: Secret }
  | { readonly kind: 'user_key'; readonly key: Secret };

/** A number of requests in any window of this length. */
export interface RateLimit {
  readonly requests: number;
  readonly windowMs: number;
}

/** What holds for every request, whichever API it goes to. */
export interface RequestsConfig {
  /** One attempt, headers and body. */
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  /** Requests in flight at most, per API. */
  readonly concurrency: number;
  /** `http:` URLs beyond this machine are allowed. */
  readonly allowInsecure: boolean;
  /** Undefined when neither HTTP_PROXY nor HTTPS_PROXY is set. */
  readonly proxy: ProxyConfig | undefined;
}

/** The proxies of the usual environment variables; at least one of the two is there. */
export interface ProxyConfig {
  readonly httpProxy: ProxyUrl | undefined;
  readonly httpsProxy: ProxyUrl | undefined;
  /** Hosts to reach without a proxy, separated by commas. */
  readonly noProxy: string | undefined;
}

/** A proxy's URL may hold a password, so it is taken apart: where to connect, what lets in, and what may be shown. */
export interface ProxyUrl {
  /** Scheme, host and port alone. */
  readonly url: string;
  /** The value of `Proxy-Authorization`; undefined where there is neither a user name nor a password. */
  readonly authorization: Secret | undefined;
  /** The URL with `[redacted]` in the place of user name and password. */
  readonly shown: string;
}

/** One pair of `FILER_ALIASES`. */
export interface FilerAlias {
  /** The guid or serial of a filer, in lower case. */
  readonly id: string;
  /** The serial or guid that it has in the other service, in lower case; or else its name. */
  readonly is: string;
}

/** How events become histograms. */
export interface EventsConfig {
  /** Upper bounds, ascending, without the infinite one. */
  readonly bucketsSeconds: readonly number[];
  /** False keeps only sum and count. */
  readonly histograms: boolean;
}

/** This instance's part of the fleet: the serials that hash to `index` out of `total`. */
export interface ShardConfig {
  readonly index: number;
  readonly total: number;
}

/** The exporter's own HTTP server. */
export interface WebConfig {
  /** A host name or an address without brackets; undefined listens on all addresses. */
  readonly host: string | undefined;
  /** 0 takes any free port. */
  readonly port: number;
  readonly metricsPath: string;
  readonly maxScrapes: number;
  /** Connections open at once at most. */
  readonly maxConnections: number;
  /** TLS and basic auth, in the file format of the Prometheus exporter toolkit. */
  readonly configFile: string | undefined;
  /** Paths served without a password and, where the operator named them, without a client certificate. */
  readonly openPaths: { readonly paths: readonly string[]; readonly named: boolean };
}

/** A level of the logger, `silent` included. */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** How lines are logged. */
export interface LogConfig {
  readonly level: LogLevel;
  /** `auto` is `pretty` on a terminal, else `json`. */
  readonly format: 'json' | 'pretty' | 'auto';
}
