import { expect, test } from 'vitest';
import { ThrottledAppliances } from '../../../src/transport/rate/throttled-appliances.ts';

const DAY_MS = 86_400_000;

test('an appliance waits alone after its second 429 while others are accepted, until it is accepted itself', () => {
  const throttled = new ThrottledAppliances();
  expect(throttled.recordThrottle('a', 0, 1)).toBe(false);
  throttled.recordAccepted('b', 2);
  expect(throttled.recordThrottle('a', 3, 4, 10_000)).toBe(true);
  expect([throttled.remainingWaitMs('a', 5), throttled.remainingWaitMs('b', 5)]).toEqual([9_999, undefined]);
  expect(throttled.recordThrottle('a', 20_000, 20_001)).toBe(true);
  throttled.recordAccepted('a', 100_000);
  expect(throttled.remainingWaitMs('a', 20_002)).toBeUndefined();
});

test('appliances that left the inventory while they were answered 429 are forgotten after a day', () => {
  const throttled = new ThrottledAppliances();
  for (let day = 0; day < 100; day += 1) {
    for (let index = 0; index < 10; index += 1) {
      throttled.recordThrottle(`${day} ${index}`, day * DAY_MS, day * DAY_MS);
      throttled.recordThrottle(`${day} ${index}`, day * DAY_MS + 1, day * DAY_MS + 1);
    }
  }
  expect(throttled.size).toBeLessThanOrEqual(20);
});
