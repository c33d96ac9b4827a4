import { expect, test } from 'vitest';
import { AdaptiveRate } from '../../../src/transport/rate/adaptive-rate.ts';

const SECOND = 1_000;
const accept = (rate: AdaptiveRate, times: number) => {
  for (let left = times; left > 0; left -= 1) rate.recordAccepted();
};

test('after a 429 the rate starts just below what was accepted, and not faster than the ceiling later', () => {
  const rate = new AdaptiveRate(1, 0);
  accept(rate, 20);
  rate.recordThrottle(10 * SECOND, 40 * SECOND);
  // Twenty in forty seconds, the pause included.
  expect(rate.rate(40 * SECOND)).toBeCloseTo((0.99 * 20) / (40 * SECOND), 9);
  expect(rate.rate(1e9)).toBe(1);
});

test('with fewer than ten accepted requests nothing is measured: six tenths of the rejected rate', () => {
  const rate = new AdaptiveRate(1, 0);
  accept(rate, 9);
  rate.recordThrottle(10 * SECOND, 40 * SECOND);
  expect(rate.rate(40 * SECOND)).toBeCloseTo(0.6, 9);
});

test('a measured rate above the rejected one is not believed', () => {
  const rate = new AdaptiveRate(0.001, 0);
  accept(rate, 1_000);
  rate.recordThrottle(10 * SECOND, 40 * SECOND);
  expect(rate.rate(40 * SECOND)).toBeCloseTo(0.0006, 9);
});

test('further rejections measure from the first one on, with the longer pause', () => {
  const rate = new AdaptiveRate(1, 0);
  accept(rate, 20);
  rate.recordThrottle(10 * SECOND, 20 * SECOND);
  rate.recordThrottle(20 * SECOND, 80 * SECOND);
  expect(rate.rate(80 * SECOND)).toBeCloseTo((0.99 * 20) / (80 * SECOND), 9);
});

test('once a request is accepted again, the next rejection measures anew', () => {
  const rate = new AdaptiveRate(1, 0);
  accept(rate, 20);
  rate.recordThrottle(10 * SECOND, 20 * SECOND);
  rate.recordResumed();
  accept(rate, 30);
  rate.recordThrottle(30 * SECOND, 50 * SECOND);
  expect(rate.rate(50 * SECOND)).toBeCloseTo((0.99 * 30) / (30 * SECOND), 9);
});

test('twenty seconds after the pause the rate is at the level between its start and the rejected rate', () => {
  const rate = new AdaptiveRate(1, 0);
  accept(rate, 20);
  rate.recordThrottle(10 * SECOND, 40 * SECOND);
  const start = (0.99 * 20) / (40 * SECOND);
  expect(rate.rate(60 * SECOND)).toBeCloseTo(start + 0.4 * (1 - start), 9);
});
