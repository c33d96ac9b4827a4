import type { Variant } from '../../metrics/variant.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ApiRequest, JsonClient } from '../../transport/client.ts';
import {
  type Credentials,
  lifetimeSeconds,
  refreshRequest,
  revokeRequest,
  type TokenAnswer,
  tokenRequest,
  tokensIn,
} from './token.ts';

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
  /** The tokens in the answer; undefined if the request was rejected. Rejects when the doctor is being stopped. */
  const ask = (request: ApiRequest): Promise<TokenAnswer | undefined> =>
    client
      .send(request, signal)
      .then(tokensIn)
      .catch((error: unknown) => {
        if (signal.aborted) throw error;
        return undefined;
      });
  const first = await ask(tokenRequest(credentials));
  if (first === undefined) return [];
  const told: Variant[] = [
    { question: 'token_lifetime', answer: lifetimeOf(first, clock) },
    { question: 'token_lifetime_told_by', answer: toldBy(first) },
  ];
  let newest = first;
  if (first.refresh !== undefined) {
    const bare = await ask(refreshRequest(first.refresh, undefined));
    told.push({ question: 'refresh_bearer', answer: bare === undefined ? 'required' : 'optional' });
    const spent = bare ?? first;
    const request = refreshRequest(spent.refresh ?? '', spent.access);
    const [second, again] = [await ask(request), await ask(request)];
    newest = again ?? second ?? spent;
    if (second === undefined) told.push({ question: 'refresh', answer: 'refused' });
    else told.push({ question: 'refresh_token_uses', answer: again === undefined ? 'single' : 'several' });
  }
  await ask(revokeRequest(newest.access));
  return told;
}

function lifetimeOf({ access, expiresIn }: TokenAnswer, clock: Clock): string {
  const seconds = lifetimeSeconds(expiresIn, access, clock.now());
  if (seconds < 600) return 'below_10_minutes';
  if (seconds <= 3600) return 'up_to_an_hour';
  return seconds <= 86_400 ? 'up_to_a_day' : 'more_than_a_day';
}

function toldBy({ access, expiresIn }: TokenAnswer): string {
  if (typeof expiresIn === 'number' && expiresIn > 0) return 'expires_in';
  return access.split('.').length === 3 ? 'jwt' : 'nothing';
}
