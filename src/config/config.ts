import type { Secret } from '../runtime/secret.ts';
import type { OwnFile } from './secret-files.ts';

/**
 * The configuration in the program's terms: grouped, durations in milliseconds, URLs checked, secrets in a type that is
 * never printed. The operator's variables are in variables.ts and in the folder of each service.
 */

/** All settings, fixed at the start. */
export interface Config extends CommonConfig {
  /** The settings of each polled service, by its name; read with the service's section. */
  readonly services: ReadonlyMap<string, unknown>;
  readonly requests: RequestsConfig & {
    /** Undefined if neither HTTP_PROXY nor HTTPS_PROXY is set. */
    readonly proxy: ProxyConfig | undefined;
  };
  /** The text in effect of each variable that has an effect, for `--check-config`; undefined if it is not set. */
  readonly shown: Readonly<Record<string, string | undefined>>;
  /** By variable, with and without effect. */
  readonly secrets: ReadonlyMap<string, Secret>;
  /** One line for each variable without effect that is likely a mistake. */
  readonly warnings: readonly string[];
  /** Where every point is sent; undefined without remote write. */
  readonly remoteWrite: RemoteWriteConfig | undefined;
  /** The files that only their owner may write: files with secrets, and `.env` if it exists. */
  readonly ownFiles: readonly OwnFile[];
}

/** The settings of no single service. */
export interface CommonConfig {
  readonly requests: RequestsConfig;
  /** A value that has not been confirmed for this many intervals is removed. */
  readonly staleAfter: number;
  /** How long the counts of a filer or volume stay after it was last seen. */
  readonly forgetAfterMs: number;
  readonly events: EventsConfig;
  /** The pairs of FILER_ALIASES; empty if unset. */
  readonly filerAliases: readonly FilerAlias[];
  /** The file that keeps counts over restarts; undefined keeps them in memory only. */
  readonly stateFile: string | undefined;
  readonly shard: ShardConfig;
  readonly web: WebConfig;
  readonly shutdownTimeoutMs: number;
  readonly log: LogConfig;
}

/** The settings of every request to any API. */
export interface RequestsConfig {
  /** Per attempt, headers and body. */
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  /** Allows `http:` URLs beyond this machine. */
  readonly allowInsecure: boolean;
}

/** The proxies of the usual environment variables; at least one of the two is set. */
export interface ProxyConfig {
  readonly httpProxy: ProxyUrl | undefined;
  readonly httpsProxy: ProxyUrl | undefined;
  /** Hosts to reach without a proxy, separated by commas. */
  readonly noProxy: string | undefined;
}

/** A proxy's URL may contain a password, so its parts are kept separately. */
export interface ProxyUrl {
  /** Scheme, host and port only. */
  readonly url: string;
  /** The value of `Proxy-Authorization`; undefined without user name and password. */
  readonly authorization: Secret | undefined;
  /** The URL with `[redacted]` instead of user name and password. */
  readonly shown: string;
}

export interface FilerAlias {
  /** The guid or serial of a filer, in lower case. */
  readonly id: string;
  /** The id of the same filer in the other service, in lower case, or else the filer's name. */
  readonly is: string;
}

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

export interface RemoteWriteConfig {
  readonly url: string;
  readonly token: Secret | undefined;
  readonly basic: { readonly user: string; readonly password: Secret } | undefined;
  /** Further headers, as `Name=value,Other=value`. */
  readonly headers: Secret | undefined;
  /** Added to every series. */
  readonly labels: Readonly<Record<string, string>>;
  /** How far back missing points are requested after an outage. */
  readonly catchUpMs: number;
  /** Paths of PEM files. */
  readonly tls: Readonly<Record<'caFile' | 'certFile' | 'keyFile', string | undefined>>;
  /** Whether series that are sent also stay on `/metrics`. */
  readonly isExposedToo: boolean;
}

export interface WebConfig {
  /** A host name or an address without brackets; undefined listens on all addresses. */
  readonly host: string | undefined;
  /** 0 chooses a free port. */
  readonly port: number;
  readonly metricsPath: string;
  readonly maxScrapes: number;
  readonly maxConnections: number;
  /** TLS and basic auth, in the file format of the Prometheus exporter toolkit. */
  readonly configFile: string | undefined;
  /** Paths that need no password and, if the operator set them, no client certificate. */
  readonly openPaths: { readonly paths: readonly string[]; readonly named: boolean };
}

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

export interface LogConfig {
  readonly level: LogLevel;
  /** `auto` is `pretty` on a terminal, else `json`. */
  readonly format: 'json' | 'pretty' | 'auto';
}
