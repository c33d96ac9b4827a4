import { describe, expect, test } from 'vitest';
import {
  newVerdict,
  nextVerdict,
  type Successes,
  type Verdict,
  type VerdictConditions,
} from '../../../src/polling/verdict.ts';

const NEVER = Number.NEGATIVE_INFINITY;
const successes = (lastAt: number, misses = 0, previousAt = NEVER): Successes => ({ lastAt, previousAt, misses });

/** Times are intervals here: an interval is 1, and STALE_AFTER is 3. */
function judged(before: Verdict, tasks: readonly Successes[], now: number, more: Partial<VerdictConditions> = {}) {
  return nextVerdict(before, tasks, (task) => task, {
    now,
    intervalMs: 1,
    staleAfter: 3,
    resumedAt: 0,
    isFirstCycleOver: true,
    mayFall: true,
    ...more,
  });
}

/** Up since 0, with its last success at 10. */
const up: Verdict = { isUp: true, since: 0, lastSuccessAt: 10, intervalMs: 1 };
const down: Verdict = { ...up, isUp: false, since: 20 };

describe('a verdict that is unknown', () => {
  test.each([
    ['becomes up with the first success', [successes(1)], 1, {}, true],
    ['becomes down after a first cycle without a success', [successes(NEVER, 1)], 1, {}, false],
    ['stays unknown during the first cycle', [successes(NEVER)], 3.4, { isFirstCycleOver: false }, undefined],
    ['becomes down after three and a half intervals', [successes(NEVER)], 3.5, { isFirstCycleOver: false }, false],
  ])('%s', (_, tasks, now, conditions, expected) => {
    expect(judged(newVerdict(0), tasks, now, conditions).verdict.isUp).toBe(expected);
  });
});

describe('a verdict that is up', () => {
  const seldom = successes(10);
  test.each([
    ['stays up while a task succeeds', [successes(16), successes(10, 6)], 16.5, {}, true, undefined],
    ['waits for three and a half intervals', [seldom], 13.4, {}, true, undefined],
    ['then waits for a task that still works', [seldom], 13.5, {}, true, seldom],
    [
      'polls it again a quarter of an interval after a failure, not before',
      [successes(10, 1)],
      13.7,
      {},
      true,
      undefined,
    ],
    ['falls when no task works any more', [successes(10, 2), successes(NEVER)], 13.5, {}, false, undefined],
    ['falls after four intervals at the latest', [seldom], 14, {}, false, undefined],
    ['does not fall while the cause may be elsewhere', [successes(10, 5)], 99, { mayFall: false }, true, undefined],
    ['concludes nothing from a time without polls', [successes(10, 5)], 99, { resumedAt: 96 }, true, undefined],
    ['waits longer while the limits lengthen intervals', [successes(10, 5)], 16.9, { intervalMs: 2 }, true, undefined],
    ['does not fall because its tasks were replaced', [successes(NEVER)], 13.4, {}, true, undefined],
  ])('%s', (_, tasks, now, conditions, isUp, awaited) => {
    const next = judged(up, tasks, now, conditions);
    expect([next.verdict.isUp, next.awaited]).toEqual([isUp, awaited]);
  });

  test('waits by the longer interval of its last success after a limit was lifted', () => {
    expect(judged({ ...up, intervalMs: 2 }, [successes(10, 5)], 16.9).verdict.isUp).toBe(true);
  });

  test('polls the task that failed once again before it falls', () => {
    const task = successes(10, 1);
    expect(judged(up, [task], 13.75).awaited).toBe(task);
  });
});

describe('a verdict that is down', () => {
  test.each([
    ['rises when one task has succeeded twice', [successes(22, 0, 21)], true],
    ['does not rise with one success of each of two tasks', [successes(21), successes(22)], false],
    ['does not rise with a success from before the fall', [successes(21, 0, 19)], false],
    ['does not rise with two successes that are far apart', [successes(24, 0, 21)], false],
  ])('%s', (_, tasks, expected) => {
    expect(judged(down, tasks, 24).verdict.isUp).toBe(expected);
  });
});
