import type { Clock } from '../../runtime/clock.ts';
import type { Exchange } from '../../transport/client.ts';
import type { AnswerByQuestion } from './questions.ts';
import { lifetimeSeconds, type TokenAnswer, tokenIn } from './token.ts';

/** What the answer with the doctor's own token shows of what the documentation leaves open. */
export function tokenAnswers(exchanges: readonly Exchange[], clock: Clock): AnswerByQuestion {
  const answered = exchanges.find(({ operation, status }) => operation === 'token' && status === 200);
  if (answered === undefined) return {};
  const token = tokenIn(answered.body);
  return { token_lifetime: lifetimeOf(token, clock), token_lifetime_told_by: toldBy(token) };
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
