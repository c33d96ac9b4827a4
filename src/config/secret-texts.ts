import type { Config } from './config.ts';
import { headerPairs } from './remote-write.ts';

/** Returns every text that must not be shown: the secrets, and what is derived from them and sent. */
export function secretTexts({ secrets, remoteWrite, requests: { proxy } }: Config): readonly string[] {
  const { basic, headers } = remoteWrite ?? {};
  const proxies = [proxy?.httpProxy, proxy?.httpsProxy].flatMap((one) => one?.authorization?.everyValue ?? []);
  return [
    ...[...secrets.values()].flatMap((secret) => secret.everyValue),
    ...(basic?.password.everyValue ?? []).map((password) => `${basic?.user}:${password}`),
    ...(headers?.everyValue ?? []).flatMap((text) => Object.values(headerPairs(text) ?? {})),
    // A `Basic` header contains the credentials in base64, so both the encoded and the decoded text are hidden.
    ...proxies.flatMap((text) => text.split(' ').slice(1)).flatMap((coded) => [coded, decoded(coded)]),
  ];
}

function decoded(base64: string): string {
  return Buffer.from(base64, 'base64').toString();
}
