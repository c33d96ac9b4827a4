import { describe, expect, test } from 'vitest';
import { demandPerSecond, stretch } from '../../src/polling/demand.ts';
import { fleet } from './fleet.ts';

describe('what a fleet asks of the pace', () => {
  test('is the sum of its tasks', () => {
    expect(demandPerSecond([])).toBe(0);
    expect(demandPerSecond(fleet(100, 15))).toBeCloseTo(5);
  });

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
