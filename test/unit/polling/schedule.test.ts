import { expect, test } from 'vitest';
import type { Task } from '../../../src/contract/task.ts';
import { PolledAppliance, PolledTask, type TaskKind } from '../../../src/polling/polled-task.ts';
import { nextTask, probeOf } from '../../../src/polling/schedule.ts';
import { NEVER_POLLED } from '../../../src/polling/task-state.ts';
import { minutes, task } from './polling-run.ts';

const now = minutes(100);

/** A task that is late by so many minutes, and failed so often. */
function late(id: string, by: number, failures = 0, more: Partial<Task> = {}): PolledTask {
  const polled = new PolledTask(task(id, more), new PolledAppliance(id, id, 0), 0);
  const responses = { lastAt: 0, previousAt: 0, misses: failures };
  polled.state = { ...NEVER_POLLED, lastResult: failures > 0 ? 'failed' : 'records', responses };
  polled.dueAt = now - minutes(by);
  return polled;
}

test('of late tasks come first: the inventory, what a verdict awaits, the latest by its interval; failing ones by failures', () => {
  const awaited = late('awaited/s', 1);
  awaited.isAwaited = true;
  const expected = [
    late('inventory', 0, 0, { priority: true }),
    awaited,
    late('latest/s', 30),
    late('failed-once/s', 20, 1),
    late('failed-longer/s', 25, 9),
    late('later/s', 10),
    late('hourly/s', 59, 0, { intervalMs: minutes(60) }),
  ];
  const rest = new Set([...expected.toReversed(), late('early/s', -1)]);
  const order = expected.map(() => {
    const next = nextTask(rest, now, { workers: 4, failingPausedUntil: 0, withSeries: true });
    if (next !== undefined) rest.delete(next);
    return next?.task.id;
  });
  expect(order).toEqual(expected.map((polled) => polled.task.id));
});

type Row = [string, 'failing' | 'awaited', { workers: number; failingPausedUntil?: number }, TaskKind[], boolean];

test.each<Row>([
  ['one of 8 workers polls a failing task while one fails', 'failing', { workers: 8 }, ['failing', 'well'], true],
  ['a failing task waits while two of 8 workers fail', 'failing', { workers: 8 }, ['failing', 'failing'], false],
  ['a single worker pauses after a failure', 'failing', { workers: 1, failingPausedUntil: now + 1 }, [], false],
  ['what a verdict awaits leaves one worker', 'awaited', { workers: 3 }, ['failing', 'awaited'], false],
])('%s', (_, kind, conditions, inFlight, isNext) => {
  const [other, well] = [late('other/s', 30, kind === 'failing' ? 1 : 0), late('well/s', 10)];
  other.isAwaited = kind === 'awaited';
  const polling = inFlight.map((inFlightAs) => Object.assign(late('polling/s', -1), { inFlightAs }));
  const usual = { failingPausedUntil: 0, withSeries: true };
  expect(nextTask([other, well, ...polling], now, { ...usual, ...conditions })).toBe(isNext ? other : well);
});

test('an outage is probed with the series that responded last, and after its failure with the one polled longest ago', () => {
  const [recent, last, longestAgo] = [late('recent/s', 0, 5), late('last/s', 0, 1), late('longest-ago/s', 0, 3)];
  recent.state = { ...recent.state, polledAt: 5 };
  last.state = { ...last.state, polledAt: 4, responses: { lastAt: 4, previousAt: 0, misses: 1 } };
  expect(probeOf([recent, last, longestAgo], now)).toBe(last);
  last.state = { ...last.state, polledAt: 6 };
  expect(probeOf([recent, last, longestAgo], now)).toBe(longestAgo);
  const never = [7, 3, 5].map((polledAt) => {
    const polled = late('never/s', 0);
    polled.state = { ...NEVER_POLLED, polledAt };
    return polled;
  });
  expect(probeOf(never, now)).toBe(never[1]);
});
