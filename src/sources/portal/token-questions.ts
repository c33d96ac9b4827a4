import type { Clock } from '../../runtime/clock.ts';
import type { ApiRequest, JsonClient } from '../../transport/client.ts';
import type { AnswerByQuestion } from './questions.ts';
import {
  type Credentials,
  lifetimeSeconds,
  refreshRequest,
  revokeRequest,
  type TokenAnswer,
  tokenRequest,
  tokensIn,
} from './token.ts';

export async function askTokens(
  client: JsonClient,
  credentials: Credentials,
  clock: Clock,
  signal: AbortSignal,
): Promise<AnswerByQuestion> {
  /** Undefined if the request was rejected. Rejects when the doctor is being stopped. */
  const ask = (request: ApiRequest): Promise<TokenAnswer | undefined> =>
    client
      .send(request, signal)
      .then(tokensIn)
      .catch((error: unknown) => {
        if (signal.aborted) throw error;
        return undefined;
      });
  const first = await ask(tokenRequest(credentials));
  if (first === undefined) return {};
  const told = { token_lifetime: lifetimeOf(first, clock), token_lifetime_told_by: toldBy(first) };
  if (first.refresh === undefined) {
    await ask(revokeRequest(first.access));
    return told;
  }
  const bare = await ask(refreshRequest(first.refresh, undefined));
  const spent = bare ?? first;
  const request = refreshRequest(spent.refresh ?? '', spent.access);
  const [second, again] = [await ask(request), await ask(request)];
  await ask(revokeRequest((again ?? second ?? spent).access));
  return {
    ...told,
    refresh_bearer: bare === undefined ? 'required' : 'optional',
    ...(second === undefined
      ? { refresh: 'refused' }
      : { refresh_token_uses: again === undefined ? 'single' : 'several' }),
  };
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
