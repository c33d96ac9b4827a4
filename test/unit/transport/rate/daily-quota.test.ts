import { expect, test } from 'vitest';
import { DailyQuota } from '../../../../src/transport/rate/daily-quota.ts';
import fc from '../../../harness/fast-check.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

/** Sends whenever the quota allows it, between two times. Returns the number of requests. */
function sendAll(quota: DailyQuota, from: number, until: number): number {
  let requests = 0;
  for (let now = quota.earliest(from); now < until; now = quota.earliest(now)) {
    quota.recordSent(now);
    requests += 1;
  }
  return requests;
}

test('property: no 24 hours hold more requests than the limit, whenever requests come', () => {
  const pause = fc.oneof({ weight: 50, arbitrary: fc.constant(0) }, fc.integer({ min: 0, max: DAY }));
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 400 }),
      fc.array(pause, { minLength: 900, maxLength: 900 }),
      (limit, drawn) => {
        const quota = new DailyQuota(limit, 0);
        const sentAt: number[] = [];
        for (const pause of drawn) {
          sentAt.push(quota.earliest((sentAt.at(-1) ?? 0) + pause));
          quota.recordSent(sentAt.at(-1) ?? 0);
        }
        const pauses = sentAt.slice(limit).map((at, index) => at - (sentAt[index] ?? 0));
        expect(Math.min(...pauses)).toBeGreaterThan(DAY - 1e-3);
      },
    ),
  );
});

test('98 % of the limit are used in a day while requests wait, and a hundredth at once after a quiet day', () => {
  const quota = new DailyQuota(10_000, 0);
  const requests = sendAll(quota, 0, DAY);
  expect(requests).toBeGreaterThanOrEqual(9_800);
  expect(quota.perSecond).toBeCloseTo(9_900 / 86_400, 9);
  expect(quota.remaining(DAY - MINUTE)).toBe(10_000 - requests);
  expect(sendAll(new DailyQuota(1_000_000, 0), DAY, DAY + 1)).toBe(10_000);
});

test.each([3_600_000, 88_000, 10_000])(
  'without a state, processes of %d ms send no more in a day than one',
  (lifeMs) => {
    let requests = 0;
    for (let start = 0; start < DAY; start += lifeMs)
      requests += sendAll(new DailyQuota(1_000, start), start, start + lifeMs);
    expect(requests).toBeLessThanOrEqual(1_000);
  },
);

function quotaWithRequestsAt(...times: readonly number[]): DailyQuota {
  const quota = new DailyQuota(1_000, 0);
  for (const at of times) quota.recordSent(at);
  return quota;
}

/** The quota of a process that starts so many milliseconds after the other one. */
function restarted(before: DailyQuota, laterMs: number): DailyQuota {
  const after = new DailyQuota(1_000, 0);
  after.restore(JSON.parse(JSON.stringify(before.save())), -laterMs);
  return after;
}

test('what is saved counts after a restart until it is a day old, as it would have before', () => {
  const after = restarted(quotaWithRequestsAt(0, MINUTE, MINUTE, 60 * MINUTE), 70 * MINUTE);
  const remainingAt = (age: number) => after.remaining(DAY - age * MINUTE);
  expect([after.remaining(0), remainingAt(71), remainingAt(70), remainingAt(69), remainingAt(10)]).toEqual([
    996, 996, 997, 999, 1_000,
  ]);
});

test('what is saved is exact after many restarts, however short each process lives', () => {
  let quota = quotaWithRequestsAt(0, 0);
  for (let elapsed = 0; elapsed < DAY - 2 * MINUTE; elapsed += 105_000) quota = restarted(quota, 105_000);
  expect([quota.remaining(0), restarted(quota, 3 * MINUTE).remaining(0)]).toEqual([998, 1_000]);
});

test.each([[null], [[1]], [[['1', 2]]]])('what is saved is rejected if it is %j, and nothing changes', (saved) => {
  const quota = quotaWithRequestsAt(0);
  expect(() => quota.restore(saved, 0)).toThrow('expected pairs of a time and a number of requests');
  expect(quota.remaining(0)).toBe(999);
});
