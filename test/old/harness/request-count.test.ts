// Only here: a count of the judge that is wrong about limits.
import { expect, test } from 'vitest';
import { RequestCount } from './request-count.ts';

function counted(at: readonly number[]): readonly string[] {
  const count = new RequestCount({ requests: 2, windowMs: 1_000, aDay: 3 });
  for (const now of at) count.leaves(now);
  return count.violations;
}

test('as many requests as the limits allow are fine, and so are more of them later', () => {
  expect(counted([0, 0, 1_000])).toEqual([]);
  expect(counted([0, 0, 86_400_000, 86_400_000, 86_401_000])).toEqual([]);
});

test('one more in a window or in a day is a violation', () => {
  expect(counted([0, 999, 999])).toEqual(['more than 2 requests in 1000 ms']);
  expect(counted([0, 0, 50_000_000, 86_399_999])).toEqual(['more than 3 requests in a day']);
});
