import { expect, test } from 'vitest';
import {
  newVerdict,
  nextVerdict,
  type Successes,
  type Verdict,
  type VerdictConditions,
} from '../../../src/polling/verdict.ts';

const NEVER = Number.NEGATIVE_INFINITY;
const successes = (lastAt: number, misses = 0, previousAt = NEVER): Successes => ({ lastAt, previousAt, misses });

// Times are intervals here, and STALE_AFTER is 3.
const unknown = newVerdict(0);
const up: Verdict = { isUp: true, since: 0, lastSuccessAt: 10, intervalMs: 1 };
const wasLimited: Verdict = { ...up, intervalMs: 2 };
const down: Verdict = { ...up, isUp: false, since: 20 };

const duringFirstCycle = { isFirstSuccessOverdue: false };
const works = successes(10);
const failedOnce = successes(10, 1);
const broken = successes(10, 2);

type Row = [string, Verdict, Successes[], number, Partial<VerdictConditions>, boolean | undefined, Successes?];

test.each<Row>([
  ['unknown: up with the first success', unknown, [successes(1)], 1, duringFirstCycle, true],
  ['unknown: stays so during the first cycle', unknown, [successes(NEVER)], 3.4, duringFirstCycle, undefined],
  ['unknown: down after a first cycle without success', unknown, [successes(NEVER, 1)], 1, {}, false],
  ['unknown: down after three and a half intervals', unknown, [successes(NEVER)], 3.5, duringFirstCycle, false],
  ['up while any task succeeds', up, [successes(16), broken], 16.5, {}, true],
  ['up for three and a half intervals without success', up, [broken], 13.4, {}, true],
  ['then polls a task that works', up, [works, broken], 13.5, {}, true, works],
  ['does not poll it again at once', up, [failedOnce], 13.7, {}, true],
  ['polls it again a quarter of an interval later', up, [failedOnce], 13.75, {}, true, failedOnce],
  ['down when no task works', up, [broken, successes(NEVER)], 13.5, {}, false],
  ['down after four intervals at the latest', up, [works], 14, {}, false],
  ['up after a time without polls', up, [broken], 99, { resumedAt: 96 }, true],
  ['waits longer while limits lengthen intervals', up, [broken], 16.9, { intervalMs: 2 }, true],
  ['waits by the interval of the last success after a limit was lifted', wasLimited, [broken], 16.9, {}, true],
  ['up although all its tasks were replaced', up, [successes(NEVER)], 13.4, {}, true],
  ['up when one task has succeeded twice since the fall', down, [successes(22, 0, 21)], 22, {}, true],
  ['down after one success of each of two tasks', down, [successes(21), successes(22)], 22, {}, false],
  ['down after one success since the fall', down, [successes(21, 0, 19)], 21, {}, false],
  ['down after two successes that are far apart', down, [successes(24, 0, 21)], 24, {}, false],
])('%s', (_, before, tasks, now, circumstances, isUp, awaited) => {
  const usual = { now, intervalMs: 1, staleAfter: 3, resumedAt: 0, isFirstSuccessOverdue: true };
  const next = nextVerdict(before, tasks, (task) => task, { ...usual, ...circumstances });
  expect([next.verdict.isUp, next.awaited]).toEqual([isUp, awaited]);
});
