import { expect, test } from 'vitest';
import { ClockSkew } from '../../src/transport/clock-skew.ts';

/** The skew after answers ten seconds apart that differ by so many seconds. */
function skewAfter(...seconds: readonly number[]): ClockSkew {
  const skew = new ClockSkew();
  for (const [index, each] of seconds.entries()) skew.answered(1_000 * each, 0, 10_000 * index);
  return skew;
}

test('the clocks differ by the median of the last five answers, and not before the third', () => {
  expect(skewAfter(600, 600).ms).toBeUndefined();
  expect(skewAfter(600, 0, 601).ms).toBe(600_000);
  expect(skewAfter(0, 0, 0, 0, 600, 600).isLarge).toBe(false);
  expect(skewAfter(0, 0, 0, -600, -600, -600)).toMatchObject({ ms: -600_000, isLarge: true });
});

test('around the threshold the verdict stays', () => {
  expect(skewAfter(59, 59, 59).isLarge).toBe(false);
  expect(skewAfter(61, 61, 61, 59, 59, 59).isLarge).toBe(true);
  expect(skewAfter(61, 61, 61, 29, 29, 29).isLarge).toBe(false);
});

test('answers that arrive together, as after a pause of the process, count as one', () => {
  const skew = new ClockSkew();
  for (let at = 0; at < 30_000; at += 10_000) skew.answered(0, 0, at);
  for (let answer = 0; answer < 8; answer += 1) skew.answered(-100_000, 0, 30_000 + answer);
  expect(skew.isLarge).toBe(false);
});
