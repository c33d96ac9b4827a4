import { seededRandom } from '../../src/demo/seeded-random.ts';
import { AdaptiveRate } from '../../src/transport/rate/adaptive-rate.ts';
import { RateLimiter, type SentRequest } from '../../src/transport/rate/rate-limiter.ts';
import type { Limit } from './services.ts';

const CONCURRENCY = 16;
const LATENCY_MS = 100;

export interface Scenario {
  readonly limit: Limit;
  /** Requests per second that the operator allowed: what the exporter was told. */
  readonly toldPerSecond: number;
  readonly seconds: number;
  readonly retryAfter: boolean;
  readonly seed: number;
}

export interface Result {
  /** What was taken after the first half minute, of what could have been. */
  readonly goodput: number;
  /** Rejected requests among all that were sent. */
  readonly refused: number;
  /** Requests that left inside a `Retry-After`. */
  readonly insideHold: number;
}

/** Unlimited demand against a limit, in simulated time: what a pace makes of it. */
export function simulate(scenario: Scenario): Result {
  const { limit, toldPerSecond, seconds, retryAfter, seed } = scenario;
  const random = seededRandom(seed);
  const pace = new RateLimiter(
    { requests: Math.round(toldPerSecond * 30), windowMs: 30_000 },
    new AdaptiveRate(toldPerSecond / 1000, 0),
    0,
  );
  const open: { readonly departure: SentRequest; readonly endsAt: number; readonly freeAt: number | undefined }[] = [];
  let now = 0;
  let sent = 0;
  let refused = 0;
  let taken = 0;
  let fair = 0;
  let insideHold = 0;
  let toldHold = 0;
  let measuredTo = 30_000;
  while (now < seconds * 1000) {
    const earliest = open.length < CONCURRENCY ? pace.earliest(now) : Number.POSITIVE_INFINITY;
    const next = open.reduce((first, { endsAt }) => Math.min(first, endsAt), Number.POSITIVE_INFINITY);
    now = Math.max(now, Math.min(earliest, next));
    if (now > measuredTo) {
      fair += (limit.fair(measuredTo) * (now - measuredTo)) / 1000;
      measuredTo = now;
    }
    if (next <= earliest) {
      const index = open.findIndex(({ endsAt }) => endsAt === next);
      const [{ departure, freeAt } = { departure: { startedAt: 0, endedAt: 0 }, freeAt: undefined }] = open.splice(
        index,
        1,
      );
      if (freeAt === undefined) pace.recordEnd(departure, now, { state: 'accepted' });
      else {
        const retryAfterMs = retryAfter ? Math.max(1, Math.ceil((freeAt - now) / 1000)) * 1000 : undefined;
        if (retryAfterMs !== undefined) toldHold = Math.max(toldHold, now + retryAfterMs);
        pace.recordEnd(departure, now, { state: 'throttled', retryAfterMs });
      }
      continue;
    }
    if (now < toldHold) insideHold += 1;
    const departure = pace.recordSent(now);
    const answer = limit.take(now);
    sent += 1;
    if (!answer.taken) refused += 1;
    else if (now >= 30_000) taken += 1;
    open.push({
      departure,
      endsAt: now + LATENCY_MS * (0.5 + random()),
      freeAt: answer.taken ? undefined : answer.freeAt,
    });
  }
  return { goodput: taken / fair, refused: refused / sent, insideHold };
}
