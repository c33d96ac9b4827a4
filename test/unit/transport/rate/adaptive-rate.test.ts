import { expect, test } from 'vitest';
import { AdaptiveRate } from '../../../../src/transport/rate/adaptive-rate.ts';

const SECOND = 1_000;

/** A rate of one request a millisecond at most, after so many accepted requests and a 429 after 10 s. */
function throttledAfter(accepted: number, waitUntil: number, ceiling = 1): AdaptiveRate {
  const rate = new AdaptiveRate(ceiling, 0);
  for (let request = 0; request < accepted; request += 1) rate.recordAccepted();
  rate.recordThrottle(10 * SECOND, waitUntil);
  return rate;
}

test('after a 429 the rate starts just below what was accepted, the wait included, and never exceeds the ceiling', () => {
  const rate = throttledAfter(20, 40 * SECOND);
  expect(rate.rate(40 * SECOND)).toBeCloseTo((0.99 * 20) / (40 * SECOND), 9);
  expect(rate.rate(1e9)).toBe(1);
});

test('twenty seconds after the wait the rate is at the level between its start and the rejected rate', () => {
  const start = (0.99 * 20) / (40 * SECOND);
  expect(throttledAfter(20, 40 * SECOND).rate(60 * SECOND)).toBeCloseTo(start + 0.4 * (1 - start), 9);
});

test('fewer than ten accepted requests measure nothing: the rate falls to six tenths', () => {
  expect(throttledAfter(9, 40 * SECOND).rate(40 * SECOND)).toBeCloseTo(0.6, 9);
});

test('a measured rate above the rejected one counts as no measurement', () => {
  expect(throttledAfter(1_000, 40 * SECOND, 0.001).rate(40 * SECOND)).toBeCloseTo(0.0006, 9);
});

test('further 429s measure from the first one on, with the longer wait', () => {
  const rate = throttledAfter(20, 20 * SECOND);
  rate.recordThrottle(20 * SECOND, 80 * SECOND);
  expect(rate.rate(80 * SECOND)).toBeCloseTo((0.99 * 20) / (80 * SECOND), 9);
});

test('after a request was accepted again, the next 429 measures anew', () => {
  const rate = throttledAfter(20, 20 * SECOND);
  rate.recordResumed();
  for (let request = 0; request < 30; request += 1) rate.recordAccepted();
  rate.recordThrottle(30 * SECOND, 50 * SECOND);
  expect(rate.rate(50 * SECOND)).toBeCloseTo((0.99 * 30) / (30 * SECOND), 9);
});
