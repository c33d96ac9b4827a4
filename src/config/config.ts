import type { Secret } from '../runtime/secret.ts';
import type { OwnFile } from './file-permissions.ts';
import { headerPairs, type remoteWriteSection } from './remote-write.ts';
import type { commonSection } from './variables.ts';

type CommonConfig = ReturnType<typeof commonSection.toSettings>;

export interface Config extends CommonConfig {
  /** The settings of each polled service, by its name; the section of the service reads them. */
  readonly services: ReadonlyMap<string, unknown>;
  readonly requests: CommonConfig['requests'] & {
    /** Undefined if neither HTTP_PROXY nor HTTPS_PROXY is set. */
    readonly proxy: ProxyConfig | undefined;
  };
  readonly remoteWrite: RemoteWriteConfig | undefined;
  /** The text in effect of each variable that has an effect, in the order of `--help`; undefined if it is not set. */
  readonly shown: Readonly<Record<string, string | undefined>>;
  /** Every secret by its variable, also those that have no effect, because all of them must be masked. */
  readonly secrets: ReadonlyMap<string, Secret>;
  /** Files with secrets, and `.env` if there is one. */
  readonly ownFiles: readonly OwnFile[];
}

export type RemoteWriteConfig = NonNullable<ReturnType<typeof remoteWriteSection.toSettings>>;

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
}

/** Returns every text that must not be shown: the secrets, and what is derived from them and sent. */
export function secretTexts({ secrets, remoteWrite, requests: { proxy } }: Config): readonly string[] {
  const { basic, headers } = remoteWrite ?? {};
  const proxies = [proxy?.httpProxy, proxy?.httpsProxy].flatMap((one) => one?.authorization?.everyValue ?? []);
  return [
    ...[...secrets.values()].flatMap((secret) => secret.everyValue),
    ...(basic?.password.everyValue ?? []).map((password) => `${basic?.user}:${password}`),
    ...(headers?.everyValue ?? []).flatMap((text) => Object.values(headerPairs(text) ?? {})),
    // A `Basic` header contains the credentials in base64, so both the encoded and the decoded text are hidden.
    ...proxies
      .flatMap((text) => text.split(' ').slice(1))
      .flatMap((coded) => [coded, Buffer.from(coded, 'base64').toString()]),
  ];
}
