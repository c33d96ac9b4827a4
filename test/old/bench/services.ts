import { seededRandom } from '../../src/demo/seeded-random.ts';

/** A limit as a service enforces it. `take` says whether a request at `now` (ms) is taken, or when one would be. */
export interface Limit {
  take(now: number): { readonly taken: true } | { readonly taken: false; readonly freeAt: number };
  /** Requests per second that it gives at `now`, for the share that was made of it. */
  fair(now: number): number;
}

export function tokenBucket(perSecond: number, burst: number): Limit {
  let tokens = burst;
  let at = 0;
  return {
    take(now) {
      tokens = Math.min(burst, tokens + ((now - at) * perSecond) / 1000);
      at = now;
      if (tokens >= 1) {
        tokens -= 1;
        return { taken: true };
      }
      return { taken: false, freeAt: now + ((1 - tokens) * 1000) / perSecond };
    },
    fair: () => perSecond,
  };
}

export function fixedWindow(requests: number, windowMs: number): Limit {
  let window = -1;
  let used = 0;
  return {
    take(now) {
      const current = Math.floor(now / windowMs);
      if (current !== window) {
        window = current;
        used = 0;
      }
      if (used < requests) {
        used += 1;
        return { taken: true };
      }
      return { taken: false, freeAt: (current + 1) * windowMs };
    },
    fair: () => (requests * 1000) / windowMs,
  };
}

export function slidingWindow(requests: number, windowMs: number): Limit {
  const taken: number[] = [];
  let first = 0;
  return {
    take(now) {
      while (first < taken.length && (taken[first] ?? 0) <= now - windowMs) first += 1;
      if (taken.length - first < requests) {
        taken.push(now);
        return { taken: true };
      }
      return { taken: false, freeAt: (taken[first] ?? now) + windowMs };
    },
    fair: () => (requests * 1000) / windowMs,
  };
}

/** One limit until `ms`, another until twice that, and so on, in turn. */
export function changing(ms: number, limits: readonly Limit[]): Limit {
  const at = (now: number): Limit => {
    const limit = limits[Math.floor(now / ms) % limits.length];
    if (limit === undefined) throw new Error('changing: no limits');
    return limit;
  };
  return { take: (now) => at(now).take(now), fair: (now) => at(now).fair(now) };
}

/** Another tool of the account asks for half of the limit in every second stretch of `ms`, evenly with some jitter. */
export function shared(limit: Limit, ms: number, seed = 1): Limit {
  const random = seededRandom(seed);
  let next = ms;
  const busy = (now: number) => Math.floor(now / ms) % 2 === 1;
  return {
    take(now) {
      while (next <= now) {
        if (busy(next)) limit.take(next);
        next += (1000 / (limit.fair(next) / 2)) * (0.5 + random());
      }
      return limit.take(now);
    },
    fair: (now) => (busy(now) ? limit.fair(now) / 2 : limit.fair(now)),
  };
}
