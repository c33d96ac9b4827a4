import { beforeEach, describe, expect, test } from 'vitest';
import type { Task } from '../../src/contract/task.ts';
import type { Outcome } from '../../src/polling/poll.ts';
import { CredentialError, RequestError } from '../../src/runtime/errors.ts';
import {
  answered,
  dataTask,
  failed,
  fleet,
  inventory,
  type Lines,
  minutes,
  nothing,
  succeeded,
  task,
} from './fleet.ts';
import { Watched } from './watched.ts';

let it: Watched;

/** Two appliances of two series, all of them polled well. */
beforeEach(() => {
  it = new Watched([inventory, ...fleet(2, 2)]);
  it.succeed(inventory, ...fleet(2, 2));
  it.lines.take();
});

/** The series of the second appliance. */
const second = fleet(2, 2).slice(2);

describe('whether an appliance is up', () => {
  test('is not said before it has been polled', () => {
    const fresh = new Watched(fleet(1, 1));
    expect([fresh.up('a0'), fresh.shelf.state('a0')]).toEqual([undefined, undefined]);
  });

  test('is yes while a value is fresh, and no with the loss of the last one, logged once with its first cause', async () => {
    it.end(failed(task('a0/s0'), answered(502)));
    await it.pass(minutes(5));
    it.fail('a0/s0', 'a0/s1');
    it.succeed(...second);
    await it.pass(minutes(10));
    expect([it.up('a0'), it.lines.take()]).toEqual(['a0 1', []]);
    await it.pass(1);
    expect([it.up('a0'), it.up('a1')]).toEqual(['a0 0', 'a1 1']);
    const [{ text, fields } = { text: '', fields: {} }] = it.lines.all;
    expect([text, fields]).toEqual([
      'the appliance does not answer',
      { serial: 'a0', filer: 'a0', failing: 2, series: 2, err: answered(502) },
    ]);
    it.lines.take();
    it.fail('a0/s0', 'a0/s1');
    expect(it.lines.take()).toEqual([]);
    it.succeed(task('a0/s1'));
    expect([it.up('a0'), it.lines.take()]).toEqual(['a0 1', ['info the appliance answers']]);
  });

  test('is no, and logged, from the first round on where there was never a value', () => {
    const fresh = new Watched(fleet(2, 2));
    fresh.end(succeeded(task('a1/s0')), failed(task('a0/s0')));
    expect(fresh.up('a0')).toBeUndefined();
    fresh.fail('a0/s1');
    expect([fresh.up('a0'), fresh.lines.take()]).toEqual([
      'a0 0',
      ['info the API answers', 'warn the appliance does not answer'],
    ]);
  });

  test('is not held at yes by a series that rests', async () => {
    await it.pass(minutes(10));
    const backedOff = it.tasks.get('a0/s1');
    it.succeed(task('a0/s1'), ...second);
    it.fail('a0/s0');
    if (backedOff) backedOff.backedOff = 'empty';
    await it.pass(minutes(5) + 1);
    expect([it.up('a0'), it.up('a1')]).toEqual(['a0 0', 'a1 1']);
  });

  test('is no, and told apart, where it answers and has no records', () => {
    it.end(succeeded(task('a0/s0'), nothing), succeeded(task('a0/s1'), nothing));
    expect([it.up('a0'), it.shelf.state('a0'), it.observer.up]).toEqual(['a0 0', 'no_records', true]);
    expect(it.lines.take()).toEqual(['warn the appliance has no records']);
    it.succeed(task('a0/s0'));
    expect([it.shelf.state('a0'), it.lines.take()]).toEqual(['reporting', ['info the appliance has records again']]);
  });

  test('is not said of one whose first series is empty before the others were polled: it may only lack that series', () => {
    const fresh = new Watched(fleet(1, 2));
    fresh.end(succeeded(task('a0/s0'), nothing));
    expect([fresh.up('a0'), fresh.lines.take()]).toEqual([undefined, ['info the API answers']]);
    fresh.succeed(task('a0/s1'));
    expect([fresh.shelf.state('a0'), fresh.lines.take()]).toEqual(['reporting', []]);
  });

  test('of one that was renamed is shown under its new name at once', () => {
    const renamed = fleet(2, 2, { appliance: { serial: 'a0', name: 'Boston' } }).slice(0, 2);
    it.change([inventory, ...renamed, ...second]);
    expect([it.up('a0'), it.up('a1')]).toEqual(['Boston 1', 'a1 1']);
  });

  test('of one that is gone is shown no more', () => {
    it.change([inventory, ...second]);
    expect([it.up('a0'), it.up('a1')]).toEqual([undefined, 'a1 1']);
    expect(it.lines.take()).toEqual(['info the inventory has changed']);
  });

  test('of one that came back is not what it was', () => {
    it.fail('a0/s0', 'a0/s1');
    it.change([inventory]);
    it.change([inventory, ...fleet(2, 2)]);
    expect([it.shelf.state('a0'), it.shelf.state('a1')]).toEqual([undefined, undefined]);
  });
});

describe('an outage of the whole API', () => {
  async function outage(): Promise<void> {
    await it.pass(minutes(5));
    it.lines.take();
    it.fail(...fleet(2, 2).map(({ id }) => id));
  }

  test('is one line with its reason, and takes every appliance down with its last value', async () => {
    await outage();
    expect([it.up('a0'), it.observer.up]).toEqual(['a0 1', false]);
    await it.pass(minutes(10) + 1);
    expect(it.lines.all.at(-1)).toMatchObject({ text: 'the API cannot be polled', fields: { reason: 'server_error' } });
    expect([it.up('a0'), it.up('a1'), it.observer.up]).toEqual(['a0 0', 'a1 0', false]);
    expect([it.observer.downReason, it.observer.lastError]).toEqual(['server_error', 'answered 500']);
  });

  test('that is over leaves down who stays so', async () => {
    await outage();
    await it.pass(minutes(10) + 1);
    it.succeed(task('a1/s0'));
    it.lines.take();
    it.fail('a0/s0');
    expect([it.up('a0'), it.up('a1')]).toEqual(['a0 0', 'a1 1']);
  });

  test('is not what is asked about the account, whatever comes of it', () => {
    for (let poll = 0; poll < 20; poll += 1) it.end(failed(inventory));
    expect(it.observer.up).toBe(true);
  });
});

describe('why the API is down', () => {
  test.each<[string, Error, string]>([
    ['refused credentials', new CredentialError('refused'), 'credentials'],
    [
      'a token service in trouble',
      new CredentialError('no token', { cause: new RequestError('status', 'answered 503', { status: 503 }) }),
      'server_error',
    ],
    ['a missing right', answered(403), 'forbidden'],
    ['a limit', answered(429), 'throttled'],
    ['a time-out', new RequestError('timeout', 'too late'), 'timeout'],
    ['no connection', new RequestError('network', 'refused'), 'network'],
  ])('%s', (_, error, reason) => {
    const one = new Watched([dataTask], false);
    one.end(failed(dataTask, error));
    expect([one.observer.up, one.observer.downReason]).toEqual([false, reason]);
  });

  test('is said to be a limit while everything is held', async () => {
    it.isHeld = true;
    expect(it.observer.downReason).toBeUndefined();
    await it.pass(minutes(16));
    expect(it.observer.downReason).toBe('throttled');
  });
});

describe('whether the API is up', () => {
  test.each<[string, readonly Task[], readonly Outcome[], boolean]>([
    ['not before the first poll', [dataTask], [], false],
    ['of one task: as it succeeded', [dataTask], [succeeded(dataTask)], true],
    ['the inventory alone is not enough', [inventory, ...fleet(1, 1)], [succeeded(inventory)], false],
    ['the inventory is where it has no appliance', [inventory], [succeeded(inventory)], true],
    [
      'one series of one appliance is',
      [inventory, ...fleet(5, 1)],
      [failed(task('a0/s0')), succeeded(task('a1/s0'))],
      true,
    ],
    ['an answer without records is an answer', fleet(1, 1), [succeeded(task('a0/s0'), nothing)], true],
    ['series that are all denied are not', fleet(1, 1), [failed(task('a0/s0'), answered(403), 'denied')], false],
  ])('%s', (_, tasks, outcomes, up) => {
    const watched = new Watched(tasks, tasks[0] !== dataTask);
    watched.end(...outcomes);
    expect(watched.observer.up).toBe(up);
  });

  test('is not for the list of appliances, once there are some', () => {
    const watched = new Watched([inventory]);
    watched.succeed(inventory);
    watched.change([inventory, ...fleet(1, 1)]);
    expect(watched.observer.up).toBe(false);
  });

  test('when it did last is by the system’s clock', async () => {
    await it.clock.advance(minutes(1));
    it.fail('a0/s0');
    expect(it.observer.lastSuccessAt).toBe(it.clock.now() - minutes(1));
  });

  test('is decided by any task where no series are polled', () => {
    const license = task('license');
    const watched = new Watched([inventory, license], false);
    watched.succeed(license);
    expect([watched.observer.up, watched.observer.polledOnce]).toEqual([true, true]);
  });
});

describe('the first polls have ended', () => {
  test('when one series has been polled, whatever came of it', () => {
    const watched = new Watched([inventory, ...fleet(1, 1)]);
    watched.succeed(inventory);
    expect(watched.observer.polledOnce).toBe(false);
    watched.fail('a0/s0');
    expect(watched.observer.polledOnce).toBe(true);
  });

  test('with the inventory where it has no appliance, or cannot be read, and for good', () => {
    const watched = new Watched([inventory]);
    watched.end(failed(inventory));
    expect(watched.observer.polledOnce).toBe(true);
    watched.change([inventory, ...fleet(5, 1)]);
    expect(watched.observer.polledOnce).toBe(true);
  });
});

describe('an operation', () => {
  const denied = (one: Task, status: number) => failed(one, answered(status), 'denied');
  const jobs = task('jobs', { operation: 'jobs', suspendedIntervalMs: minutes(15) });
  const rejected = (lines: Lines) => lines.take().filter((line) => line.includes('operation'));

  test('that goes on failing while others answer is one line, however many appliances, and one when it is back', async () => {
    const all = fleet(20, 2);
    const watched = new Watched(all);
    watched.succeed(...all);
    watched.lines.take();
    for (let round = 0; round < 4; round += 1) {
      await watched.pass(minutes(5));
      for (const each of all) watched.end(each.operation === 's0' ? failed(each) : succeeded(each));
    }
    expect(watched.lines.take()).toEqual(['warn the operation cannot be polled']);
    watched.succeed(...all);
    expect(watched.lines.take()).toEqual(['info the operation can be polled again']);
  });

  test('that fails because its appliance does is no line of its own', async () => {
    for (let round = 0; round < 4; round += 1) {
      await it.pass(minutes(5));
      it.fail('a0/s0', 'a0/s1');
      it.succeed(...second);
    }
    expect(it.lines.take()).toEqual(['warn the appliance does not answer']);
  });

  test('that is denied is told once, and once when it is given again', () => {
    const watched = new Watched([inventory, jobs]);
    watched.end(denied(jobs, 403), denied(jobs, 403), denied(jobs, 404));
    expect(rejected(watched.lines)).toEqual(['warn operation rejected; polled at the discovery interval']);
    watched.succeed(jobs, jobs);
    expect(rejected(watched.lines)).toEqual(['info operation available again']);
  });

  test('is told once for all series where the right is missing, and not where an appliance lacks one', () => {
    const [first, second, third] = fleet(1, 3, { suspendedIntervalMs: minutes(15) });
    if (!first || !second || !third) throw new Error('no fleet');
    const watched = new Watched([first, second, third]);
    watched.end(denied(first, 404));
    expect(rejected(watched.lines)).toEqual([]);
    watched.end(denied(second, 403), denied(third, 403));
    expect(rejected(watched.lines)).toHaveLength(1);
  });

  test('is told again where those that it was denied are gone and others come', () => {
    const [first, second] = fleet(1, 2, { suspendedIntervalMs: minutes(15) });
    if (!first || !second) throw new Error('no fleet');
    const watched = new Watched([first, second]);
    watched.end(denied(first, 403));
    watched.lines.take();
    watched.change([second]);
    watched.succeed(second);
    expect(rejected(watched.lines)).toEqual([]);
    watched.end(denied(second, 403));
    expect(rejected(watched.lines)).toHaveLength(1);
  });
});
