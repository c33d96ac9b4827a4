import { describe, expect, test } from 'vitest';
import { answered, fleet, inventory, minutes, reading, task } from './fleet.ts';
import { told } from './told.ts';

describe('a sweep', () => {
  test('lasts until every series has been polled, and the next begins', () => {
    const all = told(task('a/s'), task('b/s'));
    all.poll('a/s', 1_000);
    all.poll('a/s', 2_000);
    expect(all.tasks.sweepSeconds).toBeUndefined();
    all.poll('b/s', 3_000);
    expect(all.tasks.sweepSeconds).toBe(3);
    all.poll('b/s', 4_000);
    all.poll('a/s', 10_000);
    expect(all.tasks.sweepSeconds).toBe(7);
  });

  test('is not the inventory alone: what that brings is of the same round', () => {
    const all = told(inventory);
    all.change([inventory, ...fleet(2, 1)], 750);
    all.poll('inventory', 750);
    expect(all.tasks.sweepSeconds).toBeUndefined();
    all.poll('a0/s0', 2_000);
    all.poll('a1/s0', 9_000);
    expect(all.tasks.sweepSeconds).toBe(9);
  });

  test('has not ended with an inventory that cannot be read', () => {
    const all = told(inventory);
    all.poll('inventory', 1_000, answered(503));
    expect(all.tasks.sweepSeconds).toBeUndefined();
  });

  test('does not wait for what is asked at longer intervals, rests or left, and for what came', () => {
    const all = told(task('a/s'), task('b/s'), task('slow/s', { intervalMs: minutes(60) }));
    all.poll('a/s', 1_000);
    all.change([task('a/s'), task('c/s')], 2_000);
    expect(all.tasks.sweepSeconds).toBeUndefined();
    all.poll('c/s', 3_000);
    expect(all.tasks.sweepSeconds).toBe(3);
  });
});

describe('a value', () => {
  test('is fresh for so many intervals after it was confirmed last, and told stale once', () => {
    const all = told(task('a/s'));
    all.poll('a/s', 0);
    all.poll('a/s', minutes(5));
    expect(all.expired(minutes(20))).toEqual([]);
    expect(all.expired(minutes(20) + 1)).toEqual(['a/s']);
    expect(all.expired(minutes(99))).toEqual([]);
  });

  test('lives by the interval that was promised when it was confirmed, though a limit is lifted meanwhile', () => {
    const all = told(task('a/s'));
    all.allowed = 1 / 1200;
    all.poll('a/s', 0);
    all.allowed = Number.POSITIVE_INFINITY;
    expect(all.expired(minutes(59))).toEqual([]);
    expect(all.expired(minutes(61))).toEqual(['a/s']);
  });

  test('lives longer where the limits make the interval longer meanwhile', () => {
    const all = told(task('a/s'));
    all.poll('a/s', 0);
    all.allowed = 1 / 1200;
    expect(all.expired(minutes(59))).toEqual([]);
  });

  test('that failed to be confirmed is still fresh; one that is denied is gone', () => {
    const all = told(task('a/s'), task('b/s', { suspendedIntervalMs: minutes(15) }));
    all.poll('a/s', 0);
    all.poll('a/s', minutes(5), answered(503));
    expect(all.tasks.get('a/s')).toMatchObject({ isShown: true, standing: 'failed', failures: 1 });
  });

  test('is as old as the first answer that it is made of', () => {
    const all = told(task('a/s'));
    all.poll('a/s', minutes(6), { ...reading, respondedAt: 0 });
    expect(all.expired(minutes(15) + 1)).toEqual(['a/s']);
  });
});
