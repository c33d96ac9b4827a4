import type { Secret } from '../runtime/secret.ts';
import type { OwnFile } from './secret-files.ts';

/*
 * The configuration in the program's own words: grouped, durations in milliseconds, URLs checked, secrets in a type that
 * does not print. What the operator writes is in variables.ts, and in the folder of each service.
 */

/** Everything the operator decides, settled once at the start. */
export interface Config extends CommonConfig {
  /** What each service that is polled is told, by its name; read with the section of the service. */
  readonly services: ReadonlyMap<string, unknown>;
  readonly requests: RequestsConfig & {
    /** Undefined when neither HTTP_PROXY nor HTTPS_PROXY is set. */
    readonly proxy: ProxyConfig | undefined;
  };
  /** One line each for what has no effect, and was perhaps meant to. */
  readonly warnings: readonly string[];
  /** Where every point is sent; undefined where nothing is. */
  readonly remoteWrite: RemoteWriteConfig | undefined;
  /** The files that only their owner is to change: those with secrets that variables name, and `.env` where it is there. */
  readonly ownFiles: readonly OwnFile[];
}

/** What belongs to no service. */
export interface CommonConfig {
  readonly requests: RequestsConfig;
  /** A value that has not been confirmed for this many intervals leaves the exposition. */
  readonly staleAfter: number;
  /** What was counted of a filer or volume is kept so long after its last sign. */
  readonly forgetAfterMs: number;
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

/** What holds for every request, whichever API it goes to. */
export interface RequestsConfig {
  /** One attempt, headers and body. */
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  /** `http:` URLs beyond this machine are allowed. */
  readonly allowInsecure: boolean;
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

/** The receiver of remote write. */
export interface RemoteWriteConfig {
  readonly url: string;
  readonly token: Secret | undefined;
  readonly basic: { readonly user: string; readonly password: Secret } | undefined;
  /** Further headers, as `Name=value,Other=value`. */
  readonly headers: Secret | undefined;
  /** Put on every series. */
  readonly labels: Readonly<Record<string, string>>;
  /** How far back holes are closed. */
  readonly catchUpMs: number;
  /** Paths of PEM files. */
  readonly tls: Readonly<Record<'caFile' | 'certFile' | 'keyFile', string | undefined>>;
  /** Whether what is sent stays on `/metrics`. */
  readonly isExposedToo: boolean;
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
