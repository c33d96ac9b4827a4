import { describe, expect, test } from 'vitest';
import type { Reading } from '../../src/metrics/snapshot.ts';
import type { Task } from '../../src/metrics/task.ts';
import { note, restOrWake } from '../../src/polling/task-state.ts';
import { Tasks } from '../../src/polling/tasks.ts';
import { answered, failed, fleet, inventory, minutes, reading, succeeded, task } from './fleet.ts';

/** Tasks of which polls are told one by one; `allowed`: requests a second. */
class Told {
  allowed = Number.POSITIVE_INFINITY;
  readonly tasks = new Tasks({ staleAfter: 3, hasSeries: true, allowedPerSecond: () => this.allowed });

  change(tasks: readonly Task[], now = 0): void {
    this.tasks.reconcile(tasks, now);
  }

  poll(id: string, now: number, brought: Reading | Error = reading): void {
    const state = this.tasks.get(id);
    if (state === undefined) throw new Error(`there is no ${id}`);
    const outcome = brought instanceof Error ? failed(state.task, brought) : succeeded(state.task, brought);
    note(state, outcome, now, now, this.tasks.stretched(now));
    restOrWake(state, true);
    this.tasks.polled(state, now);
  }

  expired(now: number): string[] {
    return [...this.tasks.expire(now)].map(({ task: { id } }) => id);
  }
}

function told(...tasks: readonly Task[]): Told {
  const all = new Told();
  all.change(tasks);
  return all;
}

describe('a round', () => {
  test('lasts until every series has been polled, and the next begins', () => {
    const all = told(task('a/s'), task('b/s'));
    all.poll('a/s', 1_000);
    all.poll('a/s', 2_000);
    expect(all.tasks.roundSeconds).toBeUndefined();
    all.poll('b/s', 3_000);
    expect(all.tasks.roundSeconds).toBe(3);
    all.poll('b/s', 4_000);
    all.poll('a/s', 10_000);
    expect(all.tasks.roundSeconds).toBe(7);
  });

  test('is not the inventory alone: what that brings is of the same round', () => {
    const all = told(inventory);
    all.change([inventory, ...fleet(2, 1)], 750);
    all.poll('inventory', 750);
    expect(all.tasks.roundSeconds).toBeUndefined();
    all.poll('a0/s0', 2_000);
    all.poll('a1/s0', 9_000);
    expect(all.tasks.roundSeconds).toBe(9);
  });

  test('has not ended with an inventory that cannot be read', () => {
    const all = told(inventory);
    all.poll('inventory', 1_000, answered(503));
    expect(all.tasks.roundSeconds).toBeUndefined();
  });

  test('does not wait for what is asked at longer intervals, rests or left, and for what came', () => {
    const all = told(task('a/s'), task('b/s'), task('slow/s', { intervalMs: minutes(60) }));
    all.poll('a/s', 1_000);
    all.change([task('a/s'), task('c/s')], 2_000);
    expect(all.tasks.roundSeconds).toBeUndefined();
    all.poll('c/s', 3_000);
    expect(all.tasks.roundSeconds).toBe(3);
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
    const all = told(task('a/s'), task('b/s', { restMs: minutes(15) }));
    all.poll('a/s', 0);
    all.poll('a/s', minutes(5), answered(503));
    expect(all.tasks.get('a/s')).toMatchObject({ isShown: true, standing: 'failed', failures: 1 });
  });

  test('is as old as the first answer that it is made of', () => {
    const all = told(task('a/s'));
    all.poll('a/s', minutes(6), { ...reading, answeredAt: 0 });
    expect(all.expired(minutes(15) + 1)).toEqual(['a/s']);
  });
});

describe('ages', () => {
  test('are told by their median and their worst, and not for what never came or rests', () => {
    const all = told(...['a/s', 'b/s', 'c/s', 'never/s', 'rests/s'].map((id) => task(id)));
    expect(all.tasks.ages(0)).toBeUndefined();
    all.poll('a/s', 1_000);
    all.poll('b/s', 5_000);
    all.poll('c/s', 6_000);
    const rests = all.tasks.get('rests/s');
    if (rests) Object.assign(rests, { resting: 'empty', confirmedAt: 0 });
    expect(all.tasks.ages(11_000)).toEqual({ medianSeconds: 6, worstSeconds: 10 });
    all.change([task('b/s'), task('c/s')]);
    expect(all.tasks.ages(11_000)).toEqual({ medianSeconds: 6, worstSeconds: 6 });
  });
});

describe('what is overdue', () => {
  test('has missed more than one poll by its own interval: the inventory is not yet, when series are', () => {
    const all = told(inventory, ...fleet(2, 2));
    for (const { id } of [inventory, ...fleet(2, 2)]) all.poll(id, 0);
    expect(all.tasks.overdue(minutes(12.5))).toBe(0);
    expect(all.tasks.overdue(minutes(12.5) + 1)).toBe(4);
    all.poll('a0/s0', minutes(12.5));
    all.poll('a0/s1', minutes(12.5), answered(503));
    expect(all.tasks.overdue(minutes(12.5) + 1)).toBe(3);
  });

  test('is not what the limits make slow', () => {
    const all = told(...fleet(2, 2));
    for (const { id } of fleet(2, 2)) all.poll(id, 0);
    all.allowed = 4 / 600;
    expect(all.tasks.overdue(minutes(20))).toBe(0);
  });

  test('is what never succeeded, too, since it is known', () => {
    const all = told(...fleet(1, 1));
    all.poll('a0/s0', 1, answered(503));
    expect(all.tasks.overdue(minutes(13))).toBe(1);
    all.change([], minutes(13));
    all.change(fleet(1, 1), minutes(13));
    expect(all.tasks.overdue(minutes(14))).toBe(0);
  });
});
