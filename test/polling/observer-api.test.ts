import { beforeEach, describe, expect, test } from 'vitest';
import type { Task } from '../../src/metrics/task.ts';
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
  it.end(succeeded(inventory), ...fleet(2, 2).map((each) => succeeded(each)));
  it.lines.take();
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
    watched.end(succeeded(inventory));
    watched.change([inventory, ...fleet(1, 1)]);
    expect(watched.observer.up).toBe(false);
  });

  test('when it did last is by the system’s clock', async () => {
    await it.clock.advance(minutes(1));
    it.end(failed(task('a0/s0')));
    expect(it.observer.lastSuccessAt).toBe(it.clock.now() - minutes(1));
  });

  test('is decided by any task where no series are polled', () => {
    const license = task('license');
    const watched = new Watched([inventory, license], false);
    watched.end(succeeded(license));
    expect([watched.observer.up, watched.observer.polledOnce]).toEqual([true, true]);
  });
});

describe('the first polls have ended', () => {
  test('when one series has been polled, whatever came of it', () => {
    const watched = new Watched([inventory, ...fleet(1, 1)]);
    watched.end(succeeded(inventory));
    expect(watched.observer.polledOnce).toBe(false);
    watched.end(failed(task('a0/s0')));
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
  const jobs = task('jobs', { operation: 'jobs', backOffMs: minutes(15) });
  const rejected = (lines: Lines) => lines.take().filter((line) => line.includes('operation'));

  test('that goes on failing while others answer is one line, however many appliances, and one when it is back', async () => {
    const all = fleet(20, 2);
    const watched = new Watched(all);
    watched.end(...all.map((each) => succeeded(each)));
    watched.lines.take();
    for (let round = 0; round < 4; round += 1) {
      await watched.pass(minutes(5));
      for (const each of all) watched.end(each.operation === 's0' ? failed(each) : succeeded(each));
    }
    expect(watched.lines.take()).toEqual(['warn the operation cannot be polled']);
    watched.end(...all.map((each) => succeeded(each)));
    expect(watched.lines.take()).toEqual(['info the operation can be polled again']);
  });

  test('that fails because its appliance does is no line of its own', async () => {
    for (let round = 0; round < 4; round += 1) {
      await it.pass(minutes(5));
      it.end(
        failed(task('a0/s0')),
        failed(task('a0/s1')),
        ...fleet(2, 2)
          .slice(2)
          .map((each) => succeeded(each)),
      );
    }
    expect(it.lines.take()).toEqual(['warn the appliance does not answer']);
  });

  test('that is denied is told once, and once when it is given again', () => {
    const watched = new Watched([inventory, jobs]);
    watched.end(denied(jobs, 403), denied(jobs, 403), denied(jobs, 404));
    expect(rejected(watched.lines)).toEqual(['warn operation rejected; polled at the discovery interval']);
    watched.end(succeeded(jobs), succeeded(jobs));
    expect(rejected(watched.lines)).toEqual(['info operation available again']);
  });

  test('is told once for all series where the right is missing, and not where an appliance lacks one', () => {
    const [first, second, third] = fleet(1, 3, { backOffMs: minutes(15) });
    if (!first || !second || !third) throw new Error('no fleet');
    const watched = new Watched([first, second, third]);
    watched.end(denied(first, 404));
    expect(rejected(watched.lines)).toEqual([]);
    watched.end(denied(second, 403), denied(third, 403));
    expect(rejected(watched.lines)).toHaveLength(1);
  });

  test('is told again where those that it was denied are gone and others come', () => {
    const [first, second] = fleet(1, 2, { backOffMs: minutes(15) });
    if (!first || !second) throw new Error('no fleet');
    const watched = new Watched([first, second]);
    watched.end(denied(first, 403));
    watched.lines.take();
    watched.change([second]);
    watched.end(succeeded(second));
    expect(rejected(watched.lines)).toEqual([]);
    watched.end(denied(second, 403));
    expect(rejected(watched.lines)).toHaveLength(1);
  });
});
