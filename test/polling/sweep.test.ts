import { describe, expect, test } from 'vitest';
import { DataAges } from '../../src/polling/ages.ts';
import { Freshness } from '../../src/polling/freshness.ts';
import { demandPerSecond, Sweep, stretch } from '../../src/polling/sweep.ts';
import { fleet, inventory, minutes, task } from './fleet.ts';

describe('a sweep', () => {
  test('lasts until every task that was there has been polled, and the next begins', () => {
    const sweep = new Sweep();
    sweep.changed([task('a'), task('b')], 0);
    sweep.polled('a', true, 1_000);
    sweep.polled('a', true, 2_000);
    expect(sweep.lastSeconds).toBeUndefined();
    sweep.polled('b', true, 3_000);
    expect(sweep.lastSeconds).toBe(3);
    sweep.polled('b', true, 4_000);
    sweep.polled('a', true, 10_000);
    expect(sweep.lastSeconds).toBe(7);
  });

  test('does not wait for what is asked only now and then, nor for what left or came meanwhile', () => {
    const sweep = new Sweep();
    sweep.changed([task('a'), task('b'), inventory], 0);
    sweep.polled('a', true, 1_000);
    sweep.changed([task('a'), task('c')], 2_000);
    sweep.polled('c', true, 3_000);
    sweep.polled('a', true, 5_000);
    expect(sweep.lastSeconds).toBe(3);
  });

  test('does not wait for a task that last had nothing to give, until it has again', () => {
    const sweep = new Sweep();
    sweep.changed([task('a'), task('b')], 0);
    sweep.polled('b', false, 500);
    sweep.polled('a', true, 1_000);
    sweep.polled('a', true, 4_000);
    expect(sweep.lastSeconds).toBe(3);
    sweep.polled('b', true, 4_500);
    sweep.polled('a', true, 5_000);
    sweep.polled('a', true, 6_000);
    sweep.polled('b', true, 9_000);
    expect(sweep.lastSeconds).toBe(4);
  });

  test('of nothing never ends, and the inventory alone is no sweep', () => {
    const sweep = new Sweep();
    sweep.changed([inventory], 0);
    sweep.polled('nobody', true, 1);
    sweep.polled(inventory.id, true, 2);
    expect(sweep.lastSeconds).toBeUndefined();
  });
});

describe('what a fleet asks of the pace', () => {
  test('is the sum of its tasks', () => {
    expect(demandPerSecond([])).toBe(0);
    expect(demandPerSecond(fleet(100, 15))).toBeCloseTo(5);
  });

  test('counts a task at rest by the pace at which it is asked', () => {
    const tasks = fleet(100, 15, { restMs: minutes(15) });
    expect(demandPerSecond(tasks, () => true)).toBeCloseTo(5 / 3);
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

describe('the ages of data', () => {
  test('are told by their median and their worst, and not for what never came', () => {
    const ages = new DataAges();
    expect(ages.summary(['a'], 0)).toBeUndefined();
    ages.confirm('a', 1_000);
    ages.confirm('b', 5_000);
    ages.confirm('c', 6_000);
    expect(ages.summary(['a', 'b', 'c', 'never'], 11_000)).toEqual({ medianSeconds: 6, worstSeconds: 10 });
    ages.forget('a');
    expect(ages.summary(['a', 'b', 'c'], 11_000)).toEqual({ medianSeconds: 6, worstSeconds: 6 });
  });
});

describe('what is overdue', () => {
  const may = (id: string, mayMs: number) => ({ id, mayMs });

  test('brought nothing for longer than it may, since its last success or since it is known', () => {
    const ages = new DataAges();
    for (const id of ['fresh', 'old', 'never']) ages.await(id, 0);
    ages.confirm('old', 1_000);
    ages.confirm('fresh', 9_000);
    const tasks = [may('fresh', 5_000), may('old', 5_000), may('never', 5_000), may('patient', 5_000)];
    expect(ages.overdue(tasks, 5_000)).toBe(0);
    expect(ages.overdue(tasks, 6_000)).toBe(1);
    expect(ages.overdue(tasks, 10_000)).toBe(2);
    expect(ages.overdue([may('old', 9_000)], 10_000)).toBe(0);
  });

  test('is known from its first day on, and anew after it had gone', () => {
    const ages = new DataAges();
    ages.await('a', 0);
    ages.await('a', 9_000);
    expect(ages.overdue([may('a', 5_000)], 10_000)).toBe(1);
    ages.forget('a');
    ages.await('a', 9_000);
    expect(ages.overdue([may('a', 5_000)], 10_000)).toBe(0);
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
