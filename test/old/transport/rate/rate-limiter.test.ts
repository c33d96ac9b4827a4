import { describe, expect, test } from 'vitest';
import { AdaptiveRate } from '../../../src/transport/rate/adaptive-rate.ts';
import { DailyQuota } from '../../../src/transport/rate/daily-quota.ts';
import {
  type RateFeedback,
  type RateLimit,
  RateLimiter,
  type SentRequest,
} from '../../../src/transport/rate/rate-limiter.ts';
import fc from '../../support/fast-check.ts';

const TAKEN: RateFeedback = { state: 'accepted' };

function paceOf(limit: RateLimit): RateLimiter {
  return new RateLimiter(limit, new AdaptiveRate(limit.requests / limit.windowMs, 0), 0);
}

/** Lets requests leave as fast as the pace allows until `untilMs`, each answered after `latencyMs`. */
function drive(pace: RateLimiter, untilMs: number, latencyMs = 0): number[] {
  const left: number[] = [];
  for (let now = 0; ; ) {
    now = pace.earliest(now);
    if (now > untilMs) return left;
    left.push(now);
    pace.recordEnd(pace.recordSent(now), now + latencyMs, TAKEN);
  }
}

/** What is lost when moments are added and taken off as floating-point numbers, and rather more, in milliseconds: a nanosecond. */
const ROUNDING_MS = 1e-6;

/** The most moments that any window of a length, its end left out, holds. */
function maxInWindow(moments: readonly number[], windowMs: number): number {
  let most = 0;
  let first = 0;
  for (const [index, moment] of moments.entries()) {
    while ((moments[first] ?? 0) <= moment - windowMs + ROUNDING_MS) first += 1;
    most = Math.max(most, index - first + 1);
  }
  return most;
}

/** Found once by chance: the last request leaves with the window of the third to last, but for what is lost by rounding. */
const ROUNDED = [
  { waitMs: 7_887, latencyMs: 0, answer: 'accepted', retryAfterMs: 1_000 },
  { waitMs: 0, latencyMs: 789, answer: 'told', retryAfterMs: 19_991 },
  { waitMs: 0, latencyMs: 7, answer: 'told', retryAfterMs: 11_881 },
  ...[0, 0, 15_046, 0, 0, 0].map((waitMs) => ({ waitMs, latencyMs: 0, answer: 'accepted', retryAfterMs: 1_000 })),
].map((step) => ({ ...step, countedAfter: 0 }));

describe('the pace of a told limit', () => {
  test('requests are spread evenly over the window and not sent at its start', () => {
    const left = drive(paceOf({ requests: 500, windowMs: 30_000 }), 30_000);
    const firstSecond = left.filter((at) => at < 1_000).length;
    expect(firstSecond).toBeLessThanOrEqual(19);
    expect(left.length).toBeGreaterThanOrEqual(495);
  });

  test('with demand it uses at least 98 % of the limit', () => {
    expect(drive(paceOf({ requests: 500, windowMs: 30_000 }), 600_000, 200).length).toBeGreaterThan(0.98 * 10_000);
  });

  test('a timer that fires late is caught up with, a pause of a minute is not', () => {
    const pace = paceOf({ requests: 60, windowMs: 60_000 });
    pace.recordEnd(pace.recordSent(0), 0, TAKEN);
    pace.recordEnd(pace.recordSent(1_050), 1_050, TAKEN);
    expect(pace.earliest(1_050)).toBeCloseTo(2_000, -1);
    pace.recordEnd(pace.recordSent(61_000), 61_000, TAKEN);
    expect(pace.earliest(61_000)).toBeGreaterThan(61_800);
  });

  test('no window ever holds more than the limit where the service counts, whatever arrives and is answered when', () => {
    const step = fc.record({
      waitMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 0, max: 60_000 })),
      latencyMs: fc.integer({ min: 0, max: 1_900 }),
      countedAfter: fc.double({ min: 0, max: 1, noNaN: true }),
      answer: fc.constantFrom('accepted', 'accepted', 'accepted', 'unknown', 'throttled', 'told'),
      retryAfterMs: fc.integer({ min: 1_000, max: 20_000 }),
    });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 500, max: 30_000 }),
        fc.array(step, { minLength: 1, maxLength: 200 }),
        (requests, windowMs, steps) => {
          const pace = paceOf({ requests, windowMs });
          const counted: number[] = [];
          const open: { readonly departure: SentRequest; readonly endsAt: number; readonly verdict: RateFeedback }[] =
            [];
          const settle = (until: number) => {
            open.sort((a, b) => a.endsAt - b.endsAt);
            for (let first = open[0]; first !== undefined && first.endsAt <= until; first = open[0]) {
              open.shift();
              pace.recordEnd(first.departure, first.endsAt, first.verdict);
            }
          };
          let now = 0;
          for (const { waitMs, latencyMs, countedAfter, answer, retryAfterMs } of steps) {
            now += waitMs;
            settle(now);
            let earliest = pace.earliest(now);
            while (earliest > now) {
              // A probe under way holds everything until it is answered.
              now = Math.min(earliest, open[0]?.endsAt ?? earliest);
              settle(now);
              earliest = pace.earliest(now);
            }
            const departure = pace.recordSent(now);
            counted.push(now + latencyMs * countedAfter);
            const refused = { state: 'throttled', retryAfterMs: answer === 'told' ? retryAfterMs : undefined } as const;
            const verdict: RateFeedback = answer === 'accepted' || answer === 'unknown' ? { state: answer } : refused;
            open.push({ departure, endsAt: now + latencyMs, verdict });
          }
          const moments = counted.sort((a, b) => a - b);
          expect(maxInWindow(moments, windowMs)).toBeLessThanOrEqual(requests);
        },
      ),
      { numRuns: 300, examples: [[2, 25_553, ROUNDED]] },
    );
  });
});

describe('a rejection', () => {
  test('lowers the pace once for all requests that were on their way together', () => {
    const pace = paceOf({ requests: 500, windowMs: 30_000 });
    const together = Array.from({ length: 8 }, (_, index) => pace.recordSent(index * 60));
    const ended = (departure: SentRequest, at: number) =>
      pace.recordEnd(departure, at, { state: 'throttled', retryAfterMs: 1_000 });
    const [first, ...others] = together;
    if (first !== undefined) ended(first, 500);
    const lowered = pace.perSecond(1_500);
    for (const departure of others) ended(departure, 510);
    expect(pace.perSecond(1_510)).toBeCloseTo(lowered, 1);
    expect(lowered).toBeLessThan((500 / 30) * 0.9);
  });

  test('without Retry-After lets one request go first, and the rest when it was taken', () => {
    const pace = paceOf({ requests: 500, windowMs: 30_000 });
    pace.recordEnd(pace.recordSent(0), 100, { state: 'throttled', retryAfterMs: undefined });
    expect(pace.earliest(100)).toBe(1_100);
    const probe = pace.recordSent(1_100);
    expect(pace.earliest(1_150)).toBe(Number.POSITIVE_INFINITY);
    pace.recordEnd(probe, 1_300, TAKEN);
    expect(pace.earliest(1_300)).toBeLessThan(1_500);
  });

  test('without Retry-After that goes on backs off from seconds to an hour: the day’s limit is asked for seldom', () => {
    const pace = paceOf({ requests: 500, windowMs: 30_000 });
    const asked: number[] = [];
    for (let now = 0; now < 86_400_000; ) {
      now = pace.earliest(now);
      asked.push(now);
      now += 100;
      pace.recordEnd(pace.recordSent(now - 100), now, { state: 'throttled', retryAfterMs: undefined });
    }
    const gaps = asked.slice(1).map((at, index) => at - (asked[index] ?? 0));
    expect(gaps[0]).toBeLessThan(1_500);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(3_600_100);
    expect(gaps.at(-1)).toBeGreaterThan(3_500_000);
    expect(asked.length).toBeLessThan(100);
  });
});

describe('the budget of a day', () => {
  const DAY_MS = 86_400_000;

  test('is spent evenly: at most a hundredth of it goes at once after a quiet day', () => {
    const budget = new DailyQuota(1_000_000, 0);
    let burst = 0;
    for (const now = DAY_MS; budget.earliest(now) <= now; burst += 1) budget.spend(now);
    expect(burst).toBe(10_000);
  });

  test('with demand uses at least 98 % of the limit in a day', () => {
    const budget = new DailyQuota(10_000, 0);
    let spent = 0;
    for (let now = budget.earliest(0); now < DAY_MS; now = budget.earliest(now)) {
      budget.spend(now);
      spent += 1;
    }
    expect(spent).toBeGreaterThanOrEqual(9_800);
    expect(budget.remaining(DAY_MS - 60_000)).toBe(10_000 - spent);
  });

  test('no 24 hours ever hold more than the limit, whatever arrives when', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 500 }),
        fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 20_000_000 })), { maxLength: 600 }),
        (limit, waits) => {
          const budget = new DailyQuota(limit, 0);
          const spent: number[] = [];
          let now = 0;
          for (const wait of waits) {
            now = budget.earliest(now + wait);
            budget.spend(now);
            spent.push(now);
          }
          expect(maxInWindow(spent, DAY_MS)).toBeLessThanOrEqual(limit);
        },
      ),
    );
  });

  test('without a limit allows everything and has nothing left to tell', () => {
    const budget = new DailyQuota(undefined, 0);
    budget.spend(0);
    expect(budget.earliest(0)).toBe(0);
    expect(budget.remaining(0)).toBeUndefined();
    expect(budget.perSecond).toBe(Number.POSITIVE_INFINITY);
  });
});
