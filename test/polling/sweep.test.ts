import { describe, expect, test } from 'vitest';
import { Freshness } from '../../src/polling/freshness.ts';
import { demandPerSecond, Sweep, stretch } from '../../src/polling/sweep.ts';
import { fleet, inventory, minutes, task } from './fleet.ts';

describe('a sweep', () => {
  test('lasts until every task that was there has been polled, and the next begins', () => {
    const sweep = new Sweep();
    sweep.changed([task('a'), task('b')], 0);
    sweep.polled('a', 1_000);
    sweep.polled('a', 2_000);
    expect(sweep.lastSeconds).toBeUndefined();
    sweep.polled('b', 3_000);
    expect(sweep.lastSeconds).toBe(3);
    sweep.polled('b', 4_000);
    sweep.polled('a', 10_000);
    expect(sweep.lastSeconds).toBe(7);
  });

  test('does not wait for what is asked only now and then, nor for what left or came meanwhile', () => {
    const sweep = new Sweep();
    sweep.changed([task('a'), task('b'), inventory], 0);
    sweep.polled('a', 1_000);
    sweep.changed([task('a'), task('c')], 2_000);
    sweep.polled('c', 3_000);
    sweep.polled('a', 5_000);
    expect(sweep.lastSeconds).toBe(3);
  });

  test('of nothing never ends', () => {
    const sweep = new Sweep();
    sweep.changed([], 0);
    sweep.polled('nobody', 1);
    expect(sweep.lastSeconds).toBeUndefined();
  });
});

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

describe('a snapshot', () => {
  const series = task('a/s', { intervalMs: minutes(5) });

  test('is fresh for so many intervals after it was confirmed last, and told stale once', () => {
    const freshness = new Freshness(3, () => 1);
    freshness.confirm(series, 0);
    freshness.confirm(series, minutes(5));
    expect(freshness.expire(minutes(20))).toEqual([]);
    expect(freshness.expire(minutes(20) + 1)).toEqual(['a/s']);
    expect(freshness.expire(minutes(99))).toEqual([]);
  });

  test('stays longer where the limits stretch the interval', () => {
    let times = 4;
    const freshness = new Freshness(3, () => times);
    freshness.confirm(series, 0);
    expect(freshness.expire(minutes(60))).toEqual([]);
    times = 1;
    expect(freshness.expire(minutes(60))).toEqual(['a/s']);
  });

  test('of a task that left is told no more', () => {
    const freshness = new Freshness(3, () => 1);
    freshness.confirm(series, 0);
    freshness.forget(series.id);
    expect(freshness.expire(minutes(99))).toEqual([]);
  });

  test('without an age of its own never is stale', () => {
    const freshness = new Freshness(3, () => 1);
    freshness.confirm(task('up', { intervalMs: Number.POSITIVE_INFINITY }), 0);
    expect(freshness.expire(Number.MAX_SAFE_INTEGER)).toEqual([]);
  });
});
