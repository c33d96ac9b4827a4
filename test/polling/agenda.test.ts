import { describe, expect, test } from 'vitest';
import type { Task } from '../../src/contract/task.ts';
import { nextSlot } from '../../src/polling/agenda.ts';
import fc from '../support/fast-check.ts';
import { fleet, inventory, minutes, task } from './fleet.ts';
import { Schedule } from './schedule.ts';

const roomy = { perAppliance: 100, failing: 100 };
const fine = { failed: false };
const broken = { failed: true };

function agendaOf(tasks: readonly Task[], limits = roomy): Schedule {
  const agenda = new Schedule(limits);
  agenda.reconcile(tasks, 0);
  return agenda;
}

function takeAll(agenda: Schedule, now: number): Task[] {
  const taken: Task[] = [];
  for (let next = agenda.take(now); next !== undefined; next = agenda.take(now)) taken.push(next);
  return taken;
}

/** An agenda whose tasks have all been polled once, shortly after the start. */
function settled(tasks: readonly Task[], limits = roomy): Schedule {
  const agenda = agendaOf(tasks, limits);
  for (let round = takeAll(agenda, 1); round.length > 0; round = takeAll(agenda, 1)) {
    for (const taken of round) agenda.settle(taken, 1, fine);
  }
  return agenda;
}

const ids = (tasks: readonly Task[]) => tasks.map(({ id }) => id);

test('the next slot is the first on its grid after now', () => {
  const moment = fc.integer({ min: 0, max: 1e12 });
  fc.assert(
    fc.property(
      moment,
      fc.integer({ min: 1, max: 1e8 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (now, intervalMs, share) => {
        const slot = nextSlot(now, intervalMs, share * intervalMs);
        expect(slot).toBeGreaterThan(now);
        expect(slot - now).toBeLessThanOrEqual(intervalMs + 0.001);
      },
    ),
  );
});

describe('the agenda', () => {
  test('new tasks are due at once, and those of one appliance do not all go before the next one’s', () => {
    const agenda = agendaOf(fleet(10, 10));
    const taken = takeAll(agenda, 1);
    expect(taken).toHaveLength(100);
    expect(new Set(taken.slice(0, 20).map(({ appliance }) => appliance?.serial)).size).toBeGreaterThan(5);
  });

  test('the one that is latest relative to its own interval goes first', () => {
    const agenda = settled([task('quick', { intervalMs: minutes(1) }), task('slow', { intervalMs: minutes(60) })]);
    // By then the quick one is late by more than one of its intervals, the slow one by a part of its own.
    expect(ids(takeAll(agenda, minutes(95)))).toEqual(['quick', 'slow']);
    const slowFirst = settled([task('quick', { intervalMs: minutes(1) }), task('slow', { intervalMs: minutes(60) })]);
    for (let now = minutes(2); now < minutes(300); now += minutes(1)) {
      const quick = slowFirst.take(now);
      if (quick?.id === 'slow') return;
      if (quick) slowFirst.settle(quick, now, fine);
    }
    throw new Error('the slow one was never served');
  });

  test('a sweep is spread evenly over its interval', () => {
    const agenda = settled(fleet(100, 10));
    const counts = Array.from(
      { length: 10 },
      (_, tenth) => takeAll(agenda, minutes(2.5) + (tenth + 1) * minutes(0.5)).length,
    );
    expect(counts.reduce((sum, count) => sum + count)).toBe(1_000);
    for (const count of counts) expect(Math.abs(count - 100)).toBeLessThan(50);
  });

  test('a task keeps its place in the sweep over a restart', () => {
    const tasks = fleet(5, 5);
    const order = (agenda: Schedule) => ids(takeAll(agenda, minutes(7.5) + 1));
    expect(order(settled(tasks))).toEqual(order(settled([...tasks].reverse())));
  });
});

describe('how much is under way at once', () => {
  test('what failed once goes before what hangs, however long that waits', () => {
    const agenda = agendaOf(fleet(6, 1), { perAppliance: 2, failing: 1 });
    for (const taken of takeAll(agenda, 1)) {
      agenda.settle(taken, 1, taken.id === 'a5/s0' ? { ...fine, afterMs: minutes(4) } : { ...broken, afterMs: 0 });
    }
    for (let poll = 0; poll < 15; poll += 1) {
      agenda.settle(agenda.take(minutes(1)) as Task, minutes(1), { ...broken, afterMs: 0 });
    }
    for (const taken of takeAll(agenda, minutes(5))) {
      agenda.settle(taken, minutes(5), { ...broken, afterMs: taken.id === 'a5/s0' ? minutes(1) : 0 });
    }
    expect(agenda.take(minutes(6))?.id).toBe('a5/s0');
    agenda.settle(task('a5/s0'), minutes(6), { ...fine, afterMs: minutes(60) });
    const order = Array.from({ length: 10 }, () => {
      const taken = agenda.take(minutes(7)) as Task;
      agenda.settle(taken, minutes(7), { ...broken, afterMs: 0 });
      return taken.id;
    });
    expect(new Set(order.slice(0, 5)).size).toBe(5);
    expect(order.slice(5).sort()).toEqual(order.slice(0, 5).sort());
  });

  test('the other series of an appliance that fails again and again wait with what failed', () => {
    const agenda = agendaOf([...fleet(1, 6), ...fleet(3, 1).slice(1)], { perAppliance: 2, failing: 1 });
    const first = takeAll(agenda, 1);
    for (const taken of first.filter(({ appliance }) => appliance?.serial === 'a0')) {
      agenda.settle(taken, 2, { ...broken, afterMs: minutes(60) });
    }
    const then = takeAll(agenda, 3).filter(({ appliance }) => appliance?.serial === 'a0');
    expect(then).toHaveLength(1);
    agenda.settle(then[0] as Task, 4, { ...fine, afterMs: minutes(60) });
    expect(takeAll(agenda, 5)).toHaveLength(2);
  });

  test('series that are held are not handed out, and the account is', () => {
    const agenda = agendaOf([...fleet(2, 2), inventory]);
    expect(agenda.take(1, true)?.id).toBe('inventory');
    expect(agenda.take(minutes(60), true)).toBeUndefined();
    expect(agenda.take(minutes(60))?.id).toMatch(/^a/);
  });

  test('what decides what is polled goes before all that is late', () => {
    const agenda = agendaOf([...fleet(50, 4), task('first', { priority: true })]);
    expect(agenda.take(minutes(60))?.id).toBe('first');
  });
});

test('the probe of an outage goes to an appliance that did not fail last, however late those are that did', () => {
  const agenda = new Schedule({ perAppliance: 2, failing: 1 });
  agenda.reconcile([task('hangs/s0'), task('hangs/s1'), task('sound/s0')], 0);
  const taken = [agenda.take(10), agenda.take(10), agenda.take(10)].filter((one) => one !== undefined);
  for (const one of taken) agenda.settle(one, 20, { failed: one.id.startsWith('hangs') });
  const first = agenda.takeProbe();
  expect(first?.id).toBe('sound/s0');
  expect(agenda.takeProbe()?.id).toMatch(/^hangs/);
});
