import { describe, expect, test } from 'vitest';
import { stretch } from '../../src/polling/demand.ts';

describe('what a fleet asks of the pace', () => {
  test.each([
    [5, 10, 1],
    [10, 10, 1],
    [20, 10, 2],
    [5, Number.POSITIVE_INFINITY, 1],
    [5, 0, 1],
    [0, 10, 1],
  ])('%d requests a second of %d allowed stretch the interval %d times', (demand, allowed, times) => {
    expect(stretch(demand, allowed)).toBe(times);
  });
});
