import { beforeEach, describe, expect, test } from 'vitest';
import type { Task } from '../../src/metrics/task.ts';
import { Watch } from '../../src/polling/observer.ts';
import type { Outcome } from '../../src/polling/poll.ts';
import { ManualClock } from '../support/manual-clock.ts';
import {
  answered,
  dataTask,
  failed,
  fleet,
  inventory,
  Lines,
  minutes,
  reading,
  Shelf,
  succeeded,
  task,
} from './fleet.ts';

const quiet = { wentDown: false, wentUp: false };
const down = { wentDown: true, wentUp: false };
const back = { wentDown: false, wentUp: true };

let shelf: Shelf;
let lines: Lines;
let clock: ManualClock;
let watch: Watch;

/** A watch over these tasks whose API has answered already. */
function watching(tasks: readonly Task[]): void {
  shelf = new Shelf();
  lines = new Lines();
  clock = new ManualClock();
  watch = new Watch({ api: tasks[0]?.api ?? 'portal', sink: shelf, log: lines, clock, upName: 'filer_appliance_up' });
  watch.changed(tasks, []);
  lines.take();
}

function end(...outcomes: readonly Outcome[]): void {
  for (const outcome of outcomes) watch.ended(outcome, quiet);
}

/** Two appliances of two series, all of them polled well. */
beforeEach(() => {
  watching([inventory, ...fleet(2, 2)]);
  watch.ended(succeeded(inventory), back);
  end(...fleet(2, 2).map((each) => succeeded(each)));
  lines.take();
});

describe('whether an appliance answers', () => {
  test('is not said before it has been polled', () => {
    watching(fleet(1, 1));
    expect([shelf.up('a0'), watch.appliances()[0]?.up]).toEqual([undefined, undefined]);
  });

  test('is yes as long as the latest poll of one of its series succeeded, and logged once a change', () => {
    const first = task('a0/s0');
    const second = task('a0/s1');
    end(failed(first));
    expect([shelf.up('a0'), lines.take()]).toEqual(['a0 1', []]);
    end(failed(second));
    expect([shelf.up('a0'), lines.take()]).toEqual(['a0 0', ['warn the appliance does not answer']]);
    end(failed(first), failed(second), failed(first));
    expect(lines.take().filter((line) => line.includes('appliance'))).toEqual([]);
    end(succeeded(second));
    expect(shelf.up('a0')).toBe('a0 1');
    expect(lines.take()).toContain('info the appliance answers');
    expect(shelf.up('a1')).toBe('a1 1');
  });

  test('is told with its last error and when it was polled', async () => {
    await clock.advance(5_000);
    end(failed(task('a0/s0')));
    const [first] = watch.appliances();
    expect(first).toMatchObject({
      serial: 'a0',
      up: true,
      lastPollAt: clock.now(),
      lastSuccessAt: clock.now() - 5_000,
      failing: 1,
      lastError: { task: { id: 'a0/s0' }, at: clock.now(), message: 'answered 500' },
    });
  });

  test('keeps its last error until the series that failed succeeds again, or is gone', () => {
    end(failed(task('a0/s0')), succeeded(task('a0/s1')));
    expect(watch.appliances()[0]).toMatchObject({ failing: 1, lastError: { message: 'answered 500' } });
    end(succeeded(task('a0/s0')));
    expect(watch.appliances()[0]).toMatchObject({ failing: 0, lastError: undefined });
    end(failed(task('a0/s0')));
    watch.changed([inventory, task('a0/s1'), ...fleet(2, 2).slice(2)], [task('a0/s0')]);
    expect(watch.appliances()[0]).toMatchObject({ failing: 0, lastError: undefined });
  });

  test('is no while its API is down, as the gauge says', () => {
    watch.ended(failed(task('a0/s0')), down);
    expect([shelf.up('a0'), watch.appliances()[0]?.up]).toEqual(['a0 0', false]);
  });

  test('and all others are listed as people order names', () => {
    watching(['edge-10', 'edge-9', 'Edge-1'].map((name) => task(`${name}/s`, { appliance: { serial: name, name } })));
    expect(watch.appliances().map(({ name }) => name)).toEqual(['Edge-1', 'edge-9', 'edge-10']);
  });

  test('of one that was renamed is shown under its new name at once', () => {
    const renamed = fleet(2, 2, { appliance: { serial: 'a0', name: 'Boston' } }).slice(0, 2);
    watch.changed([inventory, ...renamed, ...fleet(2, 2).slice(2)], []);
    expect([shelf.up('a0'), shelf.up('a1')]).toEqual(['Boston 1', 'a1 1']);
    expect(watch.appliances().map(({ name }) => name)).toEqual(['a1', 'Boston']);
  });

  test('of one that is gone is shown no more, nor is anything else of it', () => {
    const gone = fleet(2, 2).slice(0, 2);
    watch.changed([inventory, ...fleet(2, 2).slice(2)], gone);
    expect([...shelf.held.keys()].sort()).toEqual(['a1/s0', 'a1/s1', 'inventory', 'portal/a1/up']);
    expect(lines.take()).toEqual(['info the inventory has changed']);
  });
});

describe('an outage of the whole API', () => {
  /** Every series fails, and with the third failure it is clear that it is the API. */
  function outage(): void {
    const [first, second, third, fourth] = fleet(2, 2).map((each) => failed(each)) as [
      Outcome,
      Outcome,
      Outcome,
      Outcome,
    ];
    end(first, second);
    lines.take();
    watch.ended(third, down);
    end(fourth);
  }

  test('is one line, and takes every appliance down', () => {
    outage();
    expect(lines.take()).toEqual(['warn the API cannot be polled']);
    expect([shelf.up('a0'), shelf.up('a1'), watch.up]).toEqual(['a0 0', 'a1 0', false]);
    expect(watch.lastError).toBe('answered 500');
  });

  test('however long it takes, is no further line', () => {
    outage();
    lines.take();
    for (let probe = 0; probe < 20; probe += 1) end(failed(task('a1/s0')));
    expect(lines.take()).toEqual([]);
  });

  test('ends with one line, not one for each appliance', () => {
    watching(fleet(50, 1));
    watch.ended(succeeded(task('a0/s0')), back);
    end(...fleet(50, 1).map((each) => succeeded(each)));
    watch.ended(failed(task('a0/s0')), down);
    lines.take();
    watch.ended(succeeded(task('a1/s0')), back);
    end(...fleet(50, 1).map((each) => succeeded(each)));
    expect(lines.take()).toEqual(['info the API answers again']);
    expect([watch.up, watch.lastError, shelf.up('a0'), shelf.up('a49')]).toEqual([true, undefined, 'a0 1', 'a49 1']);
  });

  test('that ends shows at once who answered before it, and not who did not', () => {
    watching(fleet(3, 1));
    watch.ended(succeeded(task('a0/s0')), back);
    end(succeeded(task('a1/s0')), failed(task('a2/s0')));
    watch.ended(failed(task('a0/s0')), down);
    watch.ended(succeeded(task('a0/s0')), back);
    expect(['a0', 'a1', 'a2'].map((serial) => shelf.up(serial))).toEqual(['a0 1', 'a1 1', 'a2 0']);
  });

  test('an appliance that stays down after it is told then', () => {
    watching(fleet(2, 1));
    watch.ended(succeeded(task('a0/s0')), back);
    end(succeeded(task('a1/s0')));
    watch.ended(failed(task('a0/s0')), down);
    watch.ended(succeeded(task('a1/s0')), back);
    lines.take();
    end(failed(task('a0/s0')));
    expect(lines.take()).toEqual(['warn the appliance does not answer']);
  });
});

describe('one series', () => {
  test('that fails twice in a row while others answer is one line, and one when it is back', () => {
    const series = task('a0/s0');
    end(failed(series));
    expect(lines.take()).toEqual([]);
    end(succeeded(task('a0/s1')), failed(series), succeeded(task('a0/s1')), failed(series), failed(series));
    expect(lines.take()).toEqual(['warn the task cannot be polled']);
    end(succeeded(series));
    expect(lines.take()).toEqual(['info the task can be polled again']);
  });

  test('that fails while nothing else answers is no line: it may be the API', () => {
    const series = task('a0/s0');
    end(succeeded(series), failed(series), failed(series), failed(series));
    expect(lines.take().filter((line) => line.includes('task'))).toEqual([]);
  });

  test('keeps what it said while it fails, and loses it where the service has it no more', () => {
    end(failed(task('a0/s0')));
    expect(shelf.held.has('a0/s0')).toBe(true);
    end(failed(task('a0/s0'), answered(404), 'absent'));
    expect(shelf.held.has('a0/s0')).toBe(false);
  });

  test('counts what could not be used of its answer', () => {
    const drops = new Map([['invalid', 2]] as const);
    end(succeeded(task('a0/s0'), { ...reading, drops }));
    expect(shelf.drops.at(-1)).toEqual(['portal', drops]);
  });

  test('given up while stopping says nothing at all', () => {
    const held = new Map(shelf.held);
    end(failed(task('a0/s0'), new Error('stopping'), 'aborted'));
    expect([shelf.held, lines.take(), watch.lastError]).toEqual([held, [], undefined]);
  });
});

describe('what is overdue', () => {
  const all = () => true;

  test('has missed more than one poll by its own interval: the inventory is not yet, when series are', async () => {
    await clock.advance(minutes(12.5));
    expect(watch.overdue(all, 1)).toBe(0);
    await clock.advance(1);
    expect(watch.overdue(all, 1)).toBe(4);
    end(succeeded(task('a0/s0')), failed(task('a0/s1')));
    expect(watch.overdue(all, 1)).toBe(3);
    expect(watch.overdue(({ id }) => id !== 'a0/s1', 1)).toBe(2);
  });

  test('is not what the limits make slow', async () => {
    await clock.advance(minutes(20));
    expect(watch.overdue(all, 2)).toBe(0);
  });

  test('is what never succeeded, too', async () => {
    watching(fleet(1, 1));
    end(failed(task('a0/s0')));
    await clock.advance(minutes(13));
    expect(watch.overdue(all, 1)).toBe(1);
  });
});

describe('whether the API answers', () => {
  test.each<[string, readonly Task[], readonly Outcome[], boolean]>([
    ['not before the first poll', [dataTask], [], false],
    ['of one task: as it succeeded', [dataTask], [succeeded(dataTask)], true],
    ['the inventory alone is not enough', [inventory, ...fleet(1, 1)], [succeeded(inventory)], false],
    [
      'one series of one appliance is',
      [inventory, ...fleet(5, 1)],
      [failed(task('a0/s0')), succeeded(task('a1/s0'))],
      true,
    ],
    ['series that are all absent are not', fleet(1, 1), [failed(task('a0/s0'), answered(403), 'absent')], false],
  ])('%s', (_, tasks, outcomes, up) => {
    watching(tasks);
    end(...outcomes);
    expect(watch.up).toBe(up);
  });

  test('when it did last is by the system’s clock', async () => {
    await clock.advance(minutes(1));
    end(failed(task('a0/s0')));
    expect(watch.lastSuccessAt).toBe(clock.now() - minutes(1));
    expect(watch.succeeded).toBe(5);
  });
});

describe('the first polls have ended', () => {
  test('when one series has been polled, whatever came of it, where there are any', () => {
    watching([inventory]);
    end(succeeded(inventory));
    watch.changed([inventory, ...fleet(1, 1)], []);
    expect(watch.polledOnce).toBe(false);
    end(failed(task('a0/s0')));
    expect(watch.polledOnce).toBe(true);
  });

  test('with the inventory where it has no appliance, or cannot be read', () => {
    watching([inventory]);
    end(succeeded(inventory));
    watch.changed([inventory], []);
    expect(watch.polledOnce).toBe(true);
    watching([inventory]);
    end(failed(inventory));
    expect(watch.polledOnce).toBe(true);
  });

  test('for good: appliances that come later turn nothing back', () => {
    watching([inventory]);
    end(failed(inventory));
    end(succeeded(inventory));
    watch.changed([inventory, ...fleet(5, 1)], []);
    expect(watch.polledOnce).toBe(true);
  });
});

describe('an operation that the API refuses', () => {
  const refused = (one: Task, status: number) => failed(one, answered(status), 'absent');
  const jobs = task('jobs', { operation: 'jobs', restMs: minutes(15) });

  test('is told once, and once when it is given again', () => {
    watching([inventory, jobs]);
    end(refused(jobs, 403), refused(jobs, 403), refused(jobs, 404));
    expect(lines.take().filter((line) => line.includes('refuses'))).toHaveLength(1);
    end(succeeded(jobs), succeeded(jobs));
    expect(lines.take().filter((line) => line.includes('gives this operation again'))).toHaveLength(1);
  });

  test('is told once for all series where the right is missing, and not where an appliance lacks one', () => {
    const [first, second, third] = fleet(1, 3, { restMs: minutes(15) });
    if (!first || !second || !third) throw new Error('no fleet');
    end(refused(first, 404));
    expect(lines.take().filter((line) => line.includes('refuses'))).toEqual([]);
    end(refused(second, 403), refused(third, 403));
    expect(lines.take().filter((line) => line.includes('refuses'))).toHaveLength(1);
  });

  test('is told once however often a series is refused between others that are given', () => {
    const [first, second] = fleet(1, 2, { restMs: minutes(15) });
    if (!first || !second) throw new Error('no fleet');
    for (let poll = 0; poll < 5; poll += 1) end(refused(first, 403), succeeded(second));
    expect(lines.take().filter((line) => line.includes('operation'))).toHaveLength(1);
    end(succeeded(first));
    expect(lines.take()).toEqual(['info the API gives this operation again']);
  });

  test('is told again where those whom it was refused are gone and others come', () => {
    const [first, second] = fleet(1, 2, { restMs: minutes(15) });
    if (!first || !second) throw new Error('no fleet');
    end(refused(first, 403));
    lines.take();
    watch.changed([inventory, second], [first]);
    end(succeeded(second));
    expect(lines.take().filter((line) => line.includes('operation'))).toEqual([]);
    end(refused(second, 403));
    expect(lines.take().filter((line) => line.includes('refuses'))).toHaveLength(1);
  });
});

test('without appliances to ask the API is up by any task, and ready once what lists more has been asked', () => {
  const license = task('license', { operation: 'license' });
  watch = new Watch({
    api: 'portal',
    sink: new Shelf(),
    log: new Lines(),
    clock,
    upName: undefined,
  });
  watch.changed([inventory, license], []);
  watch.ended(succeeded(license), back);
  expect([watch.up, watch.polledOnce]).toEqual([true, false]);
  watch.ended(failed(inventory), quiet);
  expect([watch.up, watch.polledOnce]).toEqual([true, true]);
});

describe('one task', () => {
  test('has an age from its first success on, which a failure does not change', async () => {
    expect(watch.ageSeconds('nobody')).toBeUndefined();
    await clock.advance(5_000);
    end(failed(task('a0/s0')));
    expect(watch.ageSeconds('a0/s0')).toBe(5);
    end(succeeded(task('a0/s0')));
    expect(watch.ageSeconds('a0/s0')).toBe(0);
  });

  test('that is about no appliance has its own error, while it fails', () => {
    end(failed(inventory));
    expect(watch.errorOf('inventory')).toBe('answered 500');
    end(succeeded(inventory));
    expect(watch.errorOf('inventory')).toBeUndefined();
    end(failed(inventory));
    watch.changed(fleet(2, 2), [inventory]);
    expect(watch.errorOf('inventory')).toBeUndefined();
  });
});
