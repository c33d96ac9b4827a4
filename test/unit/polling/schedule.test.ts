import { expect, test } from 'vitest';
import { PolledAppliance, PolledTask } from '../../../src/polling/polled-task.ts';
import { nextSlot, nextTask, probeOf } from '../../../src/polling/schedule.ts';
import { NEVER_POLLED } from '../../../src/polling/task-state.ts';
import fc from '../../harness/fast-check.ts';
import { minutes, status, task } from './polling-run.ts';

const room = { forSeries: true, forAwaited: true, forFailing: true };
const now = minutes(100);

/** A task that is late by so many minutes, and failed so often. */
function late(id: string, by: number, failures = 0, more: Partial<PolledTask['task']> = {}): PolledTask {
  const polled = new PolledTask(task(id, more), new PolledAppliance(id, id, 0), 0);
  const responses = { lastAt: failures, previousAt: 0, misses: failures };
  const lastResult = failures > 0 ? 'failed' : 'records';
  polled.state = { ...NEVER_POLLED, lastResult, responses, polledAt: failures, error: status(500) };
  polled.dueAt = now - minutes(by);
  return polled;
}

test('of tasks that are all late, comes first: the inventory, what a verdict awaits, what is latest relative to its interval', () => {
  const awaited = late('awaited/s', 1);
  awaited.isAwaited = true;
  const expected = [
    late('inventory', 0, 0, { priority: true }),
    awaited,
    late('latest/s', 30),
    late('failed-once/s', 20, 1),
    late('later/s', 10),
    late('hourly/s', 59, 0, { intervalMs: minutes(60) }),
    late('failed-longer/s', 4, 9),
  ];
  const rest = new Set(expected.toReversed());
  const order = expected.map(() => {
    const next = nextTask(rest, now, room);
    if (next !== undefined) rest.delete(next);
    return next?.task.id;
  });
  expect(order).toEqual(expected.map((polled) => polled.task.id));
});

test('a task is not polled without room for its kind, nor before it is due', () => {
  const early = late('early/s', -1);
  expect(nextTask([early], now, room)).toBeUndefined();
  expect(nextTask([late('fails/s', 5, 1)], now, { ...room, forFailing: false })).toBeUndefined();
  expect(nextTask([late('a/s', 5)], now, { ...room, forSeries: false })).toBeUndefined();
});

test('property: slots are one interval apart, on the phase of the task', () => {
  const property = fc.property(
    fc.nat(1e9),
    fc.integer({ min: 1_000, max: 1e7 }),
    fc.nat(999),
    (time, interval, phase) => {
      const slot = nextSlot(time, interval, phase);
      expect([slot > time, slot <= time + interval, (slot - phase) % interval]).toEqual([true, true, 0]);
    },
  );
  fc.assert(property);
});

test('an outage is probed with the series that responded last, and after it has failed with the one polled longest ago', () => {
  const [one, last, longestAgo] = [late('one/s', 0, 5), late('last/s', 0, 9), late('longest/s', 0, 3)];
  last.state = { ...last.state, responses: { lastAt: 50, previousAt: 0, misses: 1 }, polledAt: 4 };
  expect(probeOf([one, last, longestAgo], now)).toBe(last);
  last.state = { ...last.state, polledAt: 6 };
  expect(probeOf([one, last, longestAgo], now)).toBe(longestAgo);
});
