import { describe, expect, test } from 'vitest';
import { intervalFactor } from '../../src/polling/effective-interval.ts';

describe('what a fleet asks of the pace', () => {
  test.each([
    [5, 10, 1],
    [10, 10, 1],
    [20, 10, 2],
    [5, Number.POSITIVE_INFINITY, 1],
    [5, 0, 1],
    [0, 10, 1],
  ])('%d requests a second of %d allowed stretch the interval %d times', (demand, allowed, times) => {
    expect(intervalFactor(demand, allowed)).toBe(times);
  });
});
