import { expect, test } from 'vitest';
import { ThrottlingDetector } from '../../../src/transport/rate/throttling-detector.ts';

/** Windows of a hundred requests each: how many were rejected, and at which share of the configured rate they left. */
function throttledAfter(...windows: readonly (readonly [rejected: number, paceShare: number])[]): boolean {
  const throttled = new ThrottlingDetector();
  for (const [index, [rejected, paceShare]] of [...windows, [0, 1] as const].entries()) {
    for (let request = 0; request < 100; request += 1) {
      throttled.recordResponse(request < rejected, paceShare, 600_000 * index + request);
    }
  }
  return throttled.isThrottled;
}

test('a service that rejects more than one request in twenty throttles, whatever the pace is', () => {
  expect(throttledAfter([5, 1])).toBe(false);
  expect(throttledAfter([6, 1])).toBe(true);
});

test('so does one whose limit keeps the pace below half of what is configured, but not a pause for another reason', () => {
  expect(throttledAfter([3, 0.4])).toBe(true);
  expect(throttledAfter([3, 0.6])).toBe(false);
  expect(throttledAfter([2, 0.4])).toBe(false);
});

test('it is over after a window with clearly fewer rejections, and stays while nothing is accepted', () => {
  expect(throttledAfter([6, 1], [4, 1])).toBe(true);
  expect(throttledAfter([6, 1], [2, 1])).toBe(false);
  const throttled = new ThrottlingDetector();
  for (let at = 0; at < 36_000_000; at += 400_000) throttled.recordResponse(true, 0, at);
  expect(throttled.isThrottled).toBe(false);
  for (let at = 36_000_000; at < 37_800_000; at += 100_000) throttled.recordResponse(true, 0, at);
  for (let at = 37_800_000; at < 50_000_000; at += 3_600_000) throttled.recordResponse(true, 0, at);
  expect(throttled.isThrottled).toBe(true);
});
