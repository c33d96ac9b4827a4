// Only here: more than a day at the limits of an account, request by request.
import process from 'node:process';
import { expect, test } from 'vitest';
import { type Fleet, simulateFleet } from './fleet.ts';

const ACCOUNT = {
  series: 15,
  intervalMs: 300_000,
  limit: { requests: 500, windowMs: 30_000 },
  dailyLimit: 1_000_000,
  hours: 30,
} as const satisfies Partial<Fleet>;

/** The tests have a quarter of the largest fleet and of an account; `npm run explore` has all. */
const share = process.env.WHOLE_FLEET === '1' ? 1 : 1 / 4;

test('2,000 appliances use the quota of an account for thirty hours without one refusal, or 500 a quarter of it', () => {
  const limit = { ...ACCOUNT.limit, requests: ACCOUNT.limit.requests * share };
  const dailyLimit = ACCOUNT.dailyLimit * share;
  const result = simulateFleet({ ...ACCOUNT, limit, dailyLimit, appliances: 2_000 * share });
  expect(result.refused).toBe(0);
  expect(result.quotaUsed).toBeGreaterThan(0.95);
  expect(result.maxInADay).toBeLessThanOrEqual(dailyLimit);
  expect(result.worstAgeSeconds).toBeLessThanOrEqual(result.computedWorstAgeSeconds);
});

test('100 appliances are polled at the interval asked for, and leave the rest of the quota to others', () => {
  const result = simulateFleet({ ...ACCOUNT, appliances: 100 });
  expect(result.refused).toBe(0);
  expect(result.quotaUsed).toBeCloseTo(0.432, 2);
  expect(result.worstAgeSeconds).toBeLessThanOrEqual(result.computedWorstAgeSeconds);
});
