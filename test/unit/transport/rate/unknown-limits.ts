import type { Random } from '../../../../src/runtime/random.ts';
import { AdaptiveRate } from '../../../../src/transport/rate/adaptive-rate.ts';
import { RateLimiter, type SentRequest } from '../../../../src/transport/rate/rate-limiter.ts';
import { seededRandom } from '../../../harness/seeded-random.ts';

/** A limit as a service enforces it. `take` returns undefined if a request at `now` is accepted, else when one would be. */
interface Limit {
  take(now: number): number | undefined;
  /** The requests per second that the limit allows at `now`. */
  fair(now: number): number;
}

function tokenBucket(perSecond: number, burst: number): Limit {
  let tokens = burst;
  let at = 0;
  return {
    take(now) {
      tokens = Math.min(burst, tokens + ((now - at) * perSecond) / 1000);
      at = now;
      if (tokens < 1) return now + ((1 - tokens) * 1000) / perSecond;
      tokens -= 1;
      return undefined;
    },
    fair: () => perSecond,
  };
}

function fixedWindow(requests: number, windowMs: number): Limit {
  let window = -1;
  let used = 0;
  return {
    take(now) {
      const current = Math.floor(now / windowMs);
      if (current !== window) used = 0;
      window = current;
      if (used >= requests) return (current + 1) * windowMs;
      used += 1;
      return undefined;
    },
    fair: () => (requests * 1000) / windowMs,
  };
}

function slidingWindow(requests: number, windowMs: number): Limit {
  const taken: number[] = [];
  return {
    take(now) {
      while (taken[0] !== undefined && taken[0] <= now - windowMs) taken.shift();
      if (taken.length >= requests) return (taken[0] ?? now) + windowMs;
      taken.push(now);
      return undefined;
    },
    fair: () => (requests * 1000) / windowMs,
  };
}

/** The first limit for `ms`, then the second one for as long, and so on. */
function inTurn(ms: number, one: Limit, other: Limit): Limit {
  const at = (now: number) => (Math.floor(now / ms) % 2 === 0 ? one : other);
  return { take: (now) => at(now).take(now), fair: (now) => at(now).fair(now) };
}

/** Another tool of the account uses half of the limit in every second stretch of `ms`, evenly with some jitter. */
function shared(limit: Limit, ms: number): Limit {
  const random = seededRandom(1);
  const isBusy = (now: number) => Math.floor(now / ms) % 2 === 1;
  let next = ms;
  return {
    take(now) {
      for (; next <= now; next += (1000 / (limit.fair(next) / 2)) * (0.5 + random()))
        if (isBusy(next)) limit.take(next);
      return limit.take(now);
    },
    fair: (now) => (isBusy(now) ? limit.fair(now) / 2 : limit.fair(now)),
  };
}

const WINDOW_MS = 30_000;
const STRETCH_MS = 120_000;

type Row = readonly [name: string, configuredPerSecond: number, limit: () => Limit];

const CONSTANT: readonly Row[] = [
  ['token bucket 60/s, burst 30', 200, () => tokenBucket(60, 30)],
  ['token bucket 60/s, 66/s configured', 66, () => tokenBucket(60, 30)],
  ['fixed window 1,800/30 s', 200, () => fixedWindow(1_800, WINDOW_MS)],
  ['fixed window 300/30 s, 500 configured', 500 / 30, () => fixedWindow(300, WINDOW_MS)],
  ['sliding window 300/30 s, 500 configured', 500 / 30, () => slidingWindow(300, WINDOW_MS)],
];

/** A limit that changes, and accounts of which another tool uses half in every second stretch. */
const CHANGING: readonly Row[] = [
  ['token bucket, 60/s and 30/s in turn', 200, () => inTurn(STRETCH_MS, tokenBucket(60, 30), tokenBucket(30, 30))],
  ['shared fixed window 500/30 s', 500 / 30, () => shared(fixedWindow(500, WINDOW_MS), STRETCH_MS)],
  ['shared sliding window 500/30 s', 500 / 30, () => shared(slidingWindow(500, WINDOW_MS), STRETCH_MS)],
  ['shared token bucket 60/s', 100, () => shared(tokenBucket(60, 30), STRETCH_MS)],
];

export interface Result {
  readonly name: string;
  readonly isConstant: boolean;
  readonly hasRetryAfter: boolean;
  /** The share of the fair limit that was used after the first half minute. */
  readonly used: number;
  /** The share of the requests that were rejected. */
  readonly rejected: number;
}

/** The rate limiter against each limit, with and without `Retry-After`: the mean of three runs of ten simulated minutes. */
export function simulatedLimits(): readonly Result[] {
  return [...CONSTANT, ...CHANGING].flatMap((row) =>
    [true, false].map((hasRetryAfter) => {
      const [name, configuredPerSecond, limit] = row;
      const runs = [1, 2, 3].map((seed) => simulate(limit(), configuredPerSecond, hasRetryAfter, seededRandom(seed)));
      const mean = (share: 'used' | 'rejected') => runs.reduce((sum, run) => sum + run[share], 0) / runs.length;
      return {
        name,
        isConstant: CONSTANT.includes(row),
        hasRetryAfter,
        used: mean('used'),
        rejected: mean('rejected'),
      };
    }),
  );
}

const DURATION_MS = 600_000;
const MEASURED_FROM_MS = 30_000;
const CONCURRENCY = 16;
const LATENCY_MS = 100;

/** Sends as many requests as the rate limiter allows. */
function simulate(limit: Limit, configuredPerSecond: number, hasRetryAfter: boolean, random: Random) {
  const configured = { requests: Math.round(configuredPerSecond * 30), windowMs: WINDOW_MS };
  const limiter = new RateLimiter(configured, new AdaptiveRate(configuredPerSecond / 1000, 0), 0);
  /** The one that ends next is first. The service would accept a request at `freeAt`, if it has not accepted this one. */
  const inFlight: { readonly request: SentRequest; readonly endsAt: number; readonly freeAt: number | undefined }[] =
    [];
  const counts = { sent: 0, rejected: 0, accepted: 0 };
  for (let now = 0; now < DURATION_MS; ) {
    const earliest = inFlight.length < CONCURRENCY ? limiter.earliest(now) : Number.POSITIVE_INFINITY;
    const [ending] = inFlight;
    if (ending !== undefined && ending.endsAt <= earliest) {
      inFlight.shift();
      now = Math.max(now, ending.endsAt);
      const { request, freeAt } = ending;
      if (freeAt === undefined) limiter.recordEnd(request, now, 'accepted');
      else {
        const retryAfterMs = Math.max(1, Math.ceil((freeAt - now) / 1000)) * 1000;
        limiter.recordEnd(request, now, 'throttled', hasRetryAfter ? retryAfterMs : undefined);
      }
      continue;
    }
    now = earliest;
    const freeAt = limit.take(now);
    counts.sent += 1;
    if (freeAt !== undefined) counts.rejected += 1;
    else if (now >= MEASURED_FROM_MS) counts.accepted += 1;
    inFlight.push({ request: limiter.recordSent(now), endsAt: now + LATENCY_MS * (0.5 + random()), freeAt });
    inFlight.sort((one, other) => one.endsAt - other.endsAt);
  }
  let fair = 0;
  for (let at = MEASURED_FROM_MS; at < DURATION_MS; at += 1_000) fair += limit.fair(at);
  return { used: counts.accepted / fair, rejected: counts.rejected / counts.sent };
}
