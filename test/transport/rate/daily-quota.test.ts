import { describe, expect, test } from 'vitest';
import { DailyQuota } from '../../../src/transport/rate/daily-quota.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

/** A budget of a thousand that has spent one request in each of these minutes. */
function spent(minutes: readonly number[]): DailyQuota {
  const budget = new DailyQuota(1_000, 0);
  for (const minute of minutes) budget.spend(minute * MINUTE);
  return budget;
}

test('a new process begins without credit: restarts cannot overspend', () => {
  const budget = new DailyQuota(1_000_000, 0);
  budget.spend(0);
  expect(budget.earliest(0)).toBeGreaterThan(80);
});

describe('a budget restored', () => {
  test('has spent what the one before it had, and forgets it when that one would have', () => {
    const before = spent([0, 1, 1, 60]);
    const after = new DailyQuota(1_000, 0);
    after.restore(JSON.parse(JSON.stringify(before.state(60 * MINUTE))), 10 * MINUTE, 5 * MINUTE);
    // It is minute 70 of the first one's time, and minute 5 of its own.
    expect(after.remaining(5 * MINUTE)).toBe(996);
    expect(after.remaining(DAY - 66 * MINUTE)).toBe(996);
    expect(after.remaining(DAY - 65 * MINUTE)).toBe(997);
    expect(after.remaining(DAY - 64 * MINUTE)).toBe(999);
    expect(after.remaining(DAY - 5 * MINUTE)).toBe(1_000);
  });

  test('has no credit', () => {
    const after = new DailyQuota(1_000, 0);
    after.restore(spent([0]).state(0), 0, 0);
    after.spend(0);
    expect(after.earliest(0)).toBeGreaterThan(0);
  });

  test('goes on counting what it spends itself, in the same minute too', () => {
    const after = new DailyQuota(1_000, 0);
    after.restore(spent([5, 5]).state(5 * MINUTE), 0, 0);
    after.spend(0);
    after.spend(MINUTE);
    expect(after.remaining(MINUTE)).toBe(996);
    expect(after.state(MINUTE)).toEqual([
      [1, 3],
      [0, 1],
    ]);
  });
});
