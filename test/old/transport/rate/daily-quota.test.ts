import { describe, expect, test } from 'vitest';
import { DailyQuota } from '../../../src/transport/rate/daily-quota.ts';
import { restoreInto } from '../../support/kept.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

/** A budget of a thousand that has spent one request in each of these minutes. */
function spent(minutes: readonly number[]): DailyQuota {
  const budget = new DailyQuota(1_000, 0);
  for (const minute of minutes) budget.spend(minute * MINUTE);
  return budget;
}

/** Another process's budget, at minute 0 of its own clock, so many milliseconds after the minute in which this one was kept. */
function reborn(before: DailyQuota, minute: number, elapsedMs = 0): DailyQuota {
  const after = new DailyQuota(1_000, 0);
  restoreInto(after, before.all(), -minute * MINUTE - elapsedMs);
  return after;
}

test('a process begins with nothing to spend', () => {
  expect(new DailyQuota(1_000_000, 0).earliest(0)).toBeGreaterThan(80);
});

test.each([
  ['an hour', 60 * MINUTE],
  ['105 seconds', 105_000],
  ['88 seconds', 88_000],
  ['ten seconds', 10_000],
])('processes that are started each %s never spend more in a day than one may', (_, lifeMs) => {
  let requests = 0;
  for (let begun = 0; begun < DAY; begun += lifeMs) {
    const budget = new DailyQuota(1_000, begun);
    for (let at = budget.earliest(begun); at < begun + lifeMs; at = budget.earliest(at)) {
      budget.spend(at);
      requests += 1;
    }
  }
  expect(requests).toBeLessThanOrEqual(1_000);
});

describe('a budget restored', () => {
  test('has spent what the one before it had, and forgets it when that one would have', () => {
    const after = reborn(spent([0, 1, 1, 60]), 60, 10 * MINUTE);
    // It is minute 70 of the first one's time.
    expect(after.remaining(0)).toBe(996);
    expect(after.remaining(DAY - 71 * MINUTE)).toBe(996);
    expect(after.remaining(DAY - 70 * MINUTE)).toBe(997);
    expect(after.remaining(DAY - 69 * MINUTE)).toBe(999);
    expect(after.remaining(DAY - 10 * MINUTE)).toBe(1_000);
  });

  test('is exact after many restarts, however long each process lives', () => {
    let budget = spent([0, 0]);
    for (let elapsed = 0; elapsed < DAY - 2 * MINUTE; elapsed += 105_000) budget = reborn(budget, 0, 105_000);
    expect(budget.remaining(0)).toBe(998);
    expect(reborn(budget, 0, 3 * MINUTE).remaining(0)).toBe(1_000);
  });

  test('goes on counting what it spends itself, in the same minute too, and keeps that alone as a change', () => {
    const before = spent([5, 5]);
    const after = reborn(before, 5);
    after.spend(0);
    after.spend(MINUTE);
    expect(after.remaining(MINUTE)).toBe(996);
    expect([...after.changes()]).toEqual([
      {
        minutes: [
          [5, 3],
          [6, 1],
        ],
      },
    ]);
    expect([...after.changes()]).toEqual([]);
  });
});
