import { expect, test } from 'vitest';
import { type Fleet, simulateFleet } from './fleet.ts';

const ACCOUNT = {
  series: 15,
  intervalMs: 300_000,
  limit: { requests: 500, windowMs: 30_000 },
  dailyLimit: 1_000_000,
  hours: 30,
} as const satisfies Partial<Fleet>;

test('2,000 appliances use the quota of an account for thirty hours without one refusal', () => {
  const result = simulateFleet({ ...ACCOUNT, appliances: 2_000 });
  expect(result.refused).toBe(0);
  expect(result.quotaUsed).toBeGreaterThan(0.95);
  expect(result.mostInADay).toBeLessThanOrEqual(1_000_000);
  expect(result.worstAgeSeconds).toBeLessThanOrEqual(result.computedWorstAgeSeconds);
});

test('100 appliances are polled at the interval asked for, and leave the rest of the quota to others', () => {
  const result = simulateFleet({ ...ACCOUNT, appliances: 100 });
  expect(result.refused).toBe(0);
  expect(result.quotaUsed).toBeCloseTo(0.432, 2);
  expect(result.worstAgeSeconds).toBeLessThanOrEqual(result.computedWorstAgeSeconds);
});
