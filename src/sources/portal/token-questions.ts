import { isFields } from '../../metrics/family.ts';
import type { Variant } from '../../metrics/variant.ts';
import type { Clock } from '../../runtime/clock.ts';
import { RequestError } from '../../runtime/errors.ts';
import type { JsonClient } from '../../transport/client.ts';
import { accessTokenOf, type Credentials, lifetimeSeconds, tokenRequest } from './token.ts';

interface TokenPair {
  readonly access: string;
  readonly refresh: string | undefined;
  readonly body: unknown;
}

/**
 * Tests what the documentation leaves open about tokens (upstream-api.md 7): how long one is valid and where that is
 * stated, whether a refresh needs the bearer header, and whether a refresh token is valid for one use. Uses tokens of
 * its own, and revokes them.
 */
export async function askTokens(
  client: JsonClient,
  credentials: Credentials,
  clock: Clock,
  signal: AbortSignal,
): Promise<readonly Variant[]> {
  const first = await tokens(() => client.send(tokenRequest(credentials), signal));
  if (first === undefined) return [];
  const told: Variant[] = [
    { question: 'token_lifetime', answer: lifetimeOf(first, clock) },
    { question: 'token_lifetime_told_by', answer: toldBy(first) },
  ];
  let newest = first;
  if (first.refresh !== undefined) {
    const bare = await tokens(() => client.send(refreshRequest(first.refresh ?? '', undefined), signal));
    told.push({ question: 'refresh_bearer', answer: bare === undefined ? 'required' : 'optional' });
    const spent = bare === undefined ? first : bare;
    const second = await tokens(() => client.send(refreshRequest(spent.refresh ?? '', spent.access), signal));
    const again = await tokens(() => client.send(refreshRequest(spent.refresh ?? '', spent.access), signal));
    newest = again ?? second ?? spent;
    if (second !== undefined) {
      told.push({ question: 'refresh_token_uses', answer: again === undefined ? 'single' : 'several' });
    } else told.push({ question: 'refresh', answer: 'refused' });
  }
  const headers = { authorization: `Bearer ${newest.access}` };
  await tokens(() => client.send({ method: 'DELETE', path: '/auth/token', operation: 'token', headers }, signal));
  return told;
}

function refreshRequest(token: string, access: string | undefined) {
  return {
    ...({ method: 'POST', path: '/auth/token/refresh', operation: 'token', json: { token } } as const),
    ...(access === undefined ? {} : { headers: { authorization: `Bearer ${access}` } }),
  };
}

/**
 * The pair of tokens in the answer; undefined if the request was rejected. Rejects when the doctor is being stopped.
 */
async function tokens(ask: () => Promise<unknown>): Promise<TokenPair | undefined> {
  try {
    const body = await ask();
    const refresh = isFields(body) && typeof body.refresh_token === 'string' ? body.refresh_token : undefined;
    return { access: accessTokenOf(body), refresh, body };
  } catch (error) {
    if (error instanceof RequestError && error.fault === 'aborted') throw error;
    return undefined;
  }
}

function lifetimeOf({ access, body }: TokenPair, clock: Clock): string {
  const seconds = lifetimeSeconds(isFields(body) ? body.expires_in : undefined, access, clock.now());
  if (seconds < 600) return 'below_10_minutes';
  if (seconds <= 3600) return 'up_to_an_hour';
  return seconds <= 86_400 ? 'up_to_a_day' : 'more_than_a_day';
}

function toldBy({ access, body }: TokenPair): string {
  if (isFields(body) && typeof body.expires_in === 'number' && body.expires_in > 0) return 'expires_in';
  return access.split('.').length === 3 ? 'jwt' : 'nothing';
}
