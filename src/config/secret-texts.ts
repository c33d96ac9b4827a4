import type { Config } from './config.ts';
import { headerPairs } from './remote-write.ts';

/** Every text that must not be shown: the secrets, and what is sent that is made of them. */
export function secretTexts({ secrets, remoteWrite, requests: { proxy } }: Config): readonly string[] {
  const { basic, headers } = remoteWrite ?? {};
  const proxies = [proxy?.httpProxy, proxy?.httpsProxy].flatMap((one) => one?.authorization?.everyValue ?? []);
  return [
    ...[...secrets.values()].flatMap((secret) => secret.everyValue),
    ...(basic?.password.everyValue ?? []).map((password) => `${basic?.user}:${password}`),
    ...(headers?.everyValue ?? []).flatMap((text) => Object.values(headerPairs(text) ?? {})),
    // `Basic` and the credentials in base64, which are shown decoded too.
    ...proxies.flatMap((text) => text.split(' ').slice(1)).flatMap((coded) => [coded, decoded(coded)]),
  ];
}

function decoded(base64: string): string {
  return Buffer.from(base64, 'base64').toString();
}
