import { expect, test } from 'vitest';
import { AdaptiveRate } from '../../../../src/transport/rate/adaptive-rate.ts';
import {
  MAX_TRANSIT_MS,
  type RateFeedback,
  RateLimiter,
  type SentRequest,
} from '../../../../src/transport/rate/rate-limiter.ts';
import fc from '../../../harness/fast-check.ts';

function limiterOf(requests: number, windowMs: number): RateLimiter {
  return new RateLimiter({ requests, windowMs }, new AdaptiveRate(requests / windowMs, 0), 0);
}

/** Sends as fast as the limiter allows, and ends each request at once. Returns when each was sent. */
function sendAll(limiter: RateLimiter, untilMs: number, feedback: RateFeedback = 'accepted'): readonly number[] {
  const sentAt: number[] = [];
  for (let now = limiter.earliest(0); now <= untilMs; now = limiter.earliest(now)) {
    sentAt.push(now);
    limiter.recordEnd(limiter.recordSent(now), now, feedback);
  }
  return sentAt;
}

/** Times are added and subtracted as floating-point numbers: a nanosecond is lost at most. */
const ROUNDING_MS = 1e-6;

function mostInWindow(times: readonly number[], windowMs: number): number {
  const sorted = times.toSorted((one, other) => one - other);
  let first = 0;
  return sorted.reduce((most, time, index) => {
    while ((sorted[first] ?? 0) <= time - windowMs + ROUNDING_MS) first += 1;
    return Math.max(most, index - first + 1);
  }, 0);
}

const step = fc.record({
  pauseMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 0, max: 60_000 })),
  latencyMs: fc.oneof(fc.integer({ min: 0, max: 2_500 }), fc.integer({ min: 0, max: 60_000 })),
  /** Where the service counts the request between the earliest (0) and the latest (1) moment. */
  counted: fc.oneof(fc.constant(0), fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true })),
  feedback: fc.constantFrom<RateFeedback>('accepted', 'accepted', 'accepted', 'unknown', 'throttled', 'throttled'),
  retryAfterMs: fc.option(fc.integer({ min: 1_000, max: 20_000 }), { nil: undefined, freq: 1 }),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** Sends one request for each step, as soon as the limiter allows it. Returns when the service counts each. */
function countedTimes(limiter: RateLimiter, steps: readonly Step[], maxInFlight: number, maxTransitMs: number) {
  const counted: number[] = [];
  let inFlight: { readonly request: SentRequest; readonly endsAt: number; readonly step: Step }[] = [];
  const nextEnd = () => Math.min(...inFlight.map(({ endsAt }) => endsAt));
  const endUntil = (now: number) => {
    inFlight.sort((one, other) => one.endsAt - other.endsAt);
    for (const { request, endsAt, step } of inFlight) {
      const { feedback, retryAfterMs } = step;
      if (endsAt <= now) limiter.recordEnd(request, endsAt, feedback, retryAfterMs);
    }
    inFlight = inFlight.filter(({ endsAt }) => endsAt > now);
  };
  let now = 0;
  for (const step of steps) {
    const { pauseMs, latencyMs, counted: share } = step;
    now += pauseMs;
    endUntil(now);
    const earliest = () => (inFlight.length < maxInFlight ? limiter.earliest(now) : Number.POSITIVE_INFINITY);
    while (earliest() > now) {
      now = Math.min(earliest(), nextEnd());
      endUntil(now);
    }
    inFlight.push({ request: limiter.recordSent(now), endsAt: now + latencyMs, step });
    counted.push(now + share * Math.min(latencyMs, maxTransitMs));
  }
  return counted;
}

const requests = fc.integer({ min: 1, max: 30 });
const windowMs = fc.integer({ min: 500, max: 30_000 });
const places = fc.integer({ min: 1, max: 8 });
const steps = fc.array(step, { minLength: 1, maxLength: 200 });

test('[guarantee] property: a window of the configured length holds no more requests than the limit, and of requests that are counted late at most as many more as are in flight', () => {
  fc.assert(
    fc.property(requests, windowMs, places, steps, (most, length, inFlight, drawn) => {
      const inTime = countedTimes(limiterOf(most, length), drawn, Number.POSITIVE_INFINITY, MAX_TRANSIT_MS);
      expect(mostInWindow(inTime, length)).toBeLessThanOrEqual(most);
      const late = countedTimes(limiterOf(most, length), drawn, inFlight, Number.POSITIVE_INFINITY);
      expect(mostInWindow(late, length)).toBeLessThanOrEqual(most + inFlight);
    }),
    { numRuns: 400 },
  );
});

test('a known limit is used by 98 % while requests wait, evenly and not at the start of each window', () => {
  const sentAt = sendAll(limiterOf(500, 30_000), 600_000);
  expect(sentAt.filter((at) => at < 1_000).length).toBeLessThanOrEqual(19);
  expect(sentAt.length).toBeGreaterThan(0.98 * 10_000);
});

test('a known limit allows what a late timer has missed, and not what a pause of a minute has', () => {
  const limiter = limiterOf(60, 60_000);
  limiter.recordEnd(limiter.recordSent(0), 0, 'accepted');
  limiter.recordEnd(limiter.recordSent(1_050), 1_050, 'accepted');
  expect(limiter.earliest(1_050)).toBeCloseTo(2_000, -1);
  limiter.recordEnd(limiter.recordSent(61_000), 61_000, 'accepted');
  expect(limiter.earliest(61_000)).toBeGreaterThan(61_800);
});

test('a 429 without Retry-After is followed by one probe after a second; one that comes late starts no second probe', () => {
  const limiter = limiterOf(500, 30_000);
  const [rejected, late, later] = [limiter.recordSent(0), limiter.recordSent(10), limiter.recordSent(100)];
  limiter.recordEnd(rejected, 100, 'throttled');
  expect(limiter.earliest(100)).toBe(1_100);
  const probe = limiter.recordSent(1_100);
  limiter.recordEnd(late, 1_150, 'throttled');
  expect(limiter.earliest(1_150)).toBe(Number.POSITIVE_INFINITY);
  limiter.recordEnd(probe, 1_200, 'accepted');
  limiter.recordEnd(later, 1_250, 'throttled');
  expect(limiter.earliest(1_250)).toBeLessThan(1_400);
  limiter.recordSent(1_400);
  expect(limiter.earliest(1_400)).toBeLessThan(2_000);
});

test('a 429 that lasts for a day is probed after a second at first and after an hour at last, fewer than a hundred times', () => {
  const sentAt = sendAll(limiterOf(500, 30_000), 86_400_000, 'throttled');
  const pauses = sentAt.slice(1).map((at, index) => at - (sentAt[index] ?? 0));
  expect(pauses[0]).toBeLessThan(1_500);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(3_600_000);
  expect(pauses.at(-1)).toBeGreaterThan(3_500_000);
  expect(sentAt.length).toBeLessThan(100);
});

test('a 429 that lasts for long does not make the sustained rate fall to nothing, neither while it lasts nor afterwards', () => {
  const limiter = limiterOf(500, 30_000);
  const before = limiter.sustainedPerSecond(0);
  sendAll(limiter, 2_000);
  limiter.recordEnd(limiter.recordSent(2_100), 2_200, 'throttled', 3_600_000);
  expect(limiter.sustainedPerSecond(3_600_000)).toBe(before);
  limiter.recordEnd(limiter.recordSent(3_610_000), 3_610_000, 'accepted');
  expect(limiter.sustainedPerSecond(3_610_000)).toBeGreaterThan(before / 10);
});
