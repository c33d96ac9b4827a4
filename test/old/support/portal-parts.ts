import { Secret } from '../../src/runtime/secret.ts';
import type { FilerNames } from '../../src/services/filer-names.ts';
import { PortalClient } from '../../src/services/portal/client.ts';
import { PortalCollector } from '../../src/services/portal/collector.ts';
import type { PortalOptions } from '../../src/services/portal/collector-options.ts';
import { type Credentials, TokenSource } from '../../src/services/portal/token.ts';
import { going, type MockApi, mockApi, noLog, type Reply } from './mock-api.ts';

/** A uuid that tells appliances apart. */
export function uuid(index: number): string {
  return `00000000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`;
}

/** A user key that nobody rotates. */
export const userKey: Credentials = { kind: 'user_key', key: Secret.of('the-user-key') };

/** An API whose token service answers so, one reply after the other, and the token that comes of it. */
export function tokensAfter(...replies: readonly Reply[]) {
  const api = mockApi();
  api.answer('POST', '/auth/token', ...replies);
  return { api, tokens: new TokenSource(api.client, userKey, api.clock) };
}

/** The renewals of the access token, of which the first is by the refresh token. */
export const REFRESH = '/auth/token/refresh';

/** The token, or the name of the error. */
export function got(tokens: TokenSource): Promise<string> {
  return tokens.get(going).catch((error: Error) => error.name);
}

/** The portal of an API with its token. */
export function portalClient(api: MockApi, credentials: Credentials = userKey): PortalClient {
  const tokens = new TokenSource(api.client, credentials, api.clock);
  return new PortalClient(api.client, tokens, { clock: api.clock, random: () => 0 });
}

/** The settings of a collector that asks for the processor's load every five minutes. */
export function portalOptions(more: Partial<PortalOptions> = {}): PortalOptions {
  return {
    series: [{ name: 'cpu_utilization', intervalMs: 300_000 }],
    discoveryIntervalMs: 900_000,
    serials: undefined,
    shard: { index: 0, total: 1 },
    staleAfter: 3,
    forgetAfterMs: 86_400_000,
    lookbackMs: 900_000,
    binSeconds: 60,
    collectors: [],
    bounds: [10, 60, 3600],
    ...more,
  };
}

/** A collector of an API. */
export function portalCollector(
  api: MockApi,
  { names, ...more }: Partial<PortalOptions> & { readonly names?: FilerNames } = {},
): PortalCollector {
  const parts = { clock: api.clock, log: noLog, ...(names && { names }) };
  return new PortalCollector(portalClient(api), portalOptions(more), parts);
}

/** A JWT with these claims, signed by nobody. */
export function jwt(claims: unknown): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'none' })}.${part(claims)}.signature`;
}

/** What became of something, error or not, with time passing for whatever waits in it. */
export async function outcomeOf(api: MockApi, under: Promise<unknown>, ms = 10_000): Promise<unknown> {
  const outcome = under.catch((error: unknown) => error);
  await api.clock.advance(ms);
  return outcome;
}
