import type { Secret } from '../runtime/secret.ts';
import type { remoteWriteSection } from './remote-write.ts';
import type { OwnFile } from './secret-files.ts';
import type { commonSection } from './variables.ts';

/**
 * The configuration in the program's terms: grouped, durations in milliseconds, URLs checked, secrets in a type that is
 * never printed. The operator's variables are in variables.ts and in the folder of each service.
 */

type CommonConfig = ReturnType<typeof commonSection.settle>;

/** All settings, fixed at the start. */
export interface Config extends CommonConfig {
  /** The settings of each polled service, by its name; read with the service's section. */
  readonly services: ReadonlyMap<string, unknown>;
  readonly requests: CommonConfig['requests'] & {
    /** Undefined if neither HTTP_PROXY nor HTTPS_PROXY is set. */
    readonly proxy: ProxyConfig | undefined;
  };
  /** Where every point is sent; undefined without remote write. */
  readonly remoteWrite: RemoteWriteConfig | undefined;
  /** The text in effect of each variable that has an effect, for `--check-config`; undefined if it is not set. */
  readonly shown: Readonly<Record<string, string | undefined>>;
  /** By variable, with and without effect. */
  readonly secrets: ReadonlyMap<string, Secret>;
  /** One line for each variable without effect that is likely a mistake. */
  readonly warnings: readonly string[];
  /** The files that only their owner may write: files with secrets, and `.env` if it exists. */
  readonly ownFiles: readonly OwnFile[];
}

export type RemoteWriteConfig = NonNullable<ReturnType<typeof remoteWriteSection.settle>>;

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
