import type { Secret } from '../runtime/secret.ts';
import type { ProtectedFile } from './file-permissions.ts';
import type { remoteWriteSection } from './remote-write.ts';
import type { EffectiveValues } from './table.ts';
import type { commonSection } from './variables.ts';

type CommonConfig = ReturnType<typeof commonSection.toSettings>['settings'];

export interface Config extends CommonConfig {
  /** The settings of each polled service, by its name; the section of the service reads them. */
  readonly services: ReadonlyMap<string, unknown>;
  readonly requests: CommonConfig['requests'] & {
    /** Undefined if neither HTTP_PROXY nor HTTPS_PROXY is set. */
    readonly proxy: ProxyConfig | undefined;
  };
  readonly remoteWrite: RemoteWriteConfig | undefined;
  readonly shown: EffectiveValues;
  /** Every secret by its variable, also those that have no effect, because all of them must be masked. */
  readonly secrets: ReadonlyMap<string, Secret>;
  /** One line for each variable without effect that is likely a mistake. */
  readonly warnings: readonly string[];
  /** The files that only their owner may write: files with secrets, and `.env` if it exists. */
  readonly ownFiles: readonly ProtectedFile[];
}

export type RemoteWriteConfig = NonNullable<ReturnType<typeof remoteWriteSection.toSettings>['settings']>;

/** At least one of the two proxies is set. */
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
