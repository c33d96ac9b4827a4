import { expect, test } from 'vitest';
import { editDistance, nearest } from '../../src/runtime/suggest.ts';

test.each([
  ['same', 'same', 0],
  ['', 'abc', 3],
  ['interval', 'interavl', 1],
  ['ca', 'abc', 3],
])('from %j to %j takes %d slips', (from, to, slips) => {
  expect(editDistance(from, to)).toBe(slips);
});

test('two letters that changed places are one slip, not two', () => {
  expect(nearest('ab', ['xb', 'ba', 'cd'])).toBe('xb');
  expect(nearest('abcd', ['axyd', 'acbd'])).toBe('acbd');
});

test('of equally near words the earlier one is named, and of no words none', () => {
  expect(nearest('b', ['a', 'c'])).toBe('a');
  expect(nearest('b', [])).toBeUndefined();
});
