import { beforeEach, describe, expect, test } from 'vitest';
import type { Task } from '../../src/metrics/task.ts';
import { Appliances } from '../../src/polling/appliances.ts';
import { SeriesHealth } from '../../src/polling/health.ts';
import { Observer } from '../../src/polling/observer.ts';
import type { Outcome } from '../../src/polling/poll.ts';
import { recordOutcome } from '../../src/polling/task-state.ts';
import { Tasks } from '../../src/polling/tasks.ts';
import { CredentialError, RequestError } from '../../src/runtime/errors.ts';
import { ManualClock } from '../support/manual-clock.ts';
import {
  answered,
  dataTask,
  failed,
  fleet,
  inventory,
  Lines,
  minutes,
  names,
  nothing,
  Shelf,
  succeeded,
  task,
} from './fleet.ts';

/** What is known of made-up tasks, told how their polls ended as the runner tells it. */
class Watched {
  readonly shelf = new Shelf();
  readonly lines = new Lines();
  readonly clock = new ManualClock();
  readonly tasks: Tasks;
  readonly health = new SeriesHealth(16, () => 0.5);
  readonly observer: Observer;
  readonly asked: string[] = [];
  isHeld = false;

  constructor(tasks: readonly Task[], hasSeries = true) {
    const { clock, health, lines: log } = this;
    const api = tasks[0]?.api ?? 'portal';
    const allowedPerSecond = () => Number.POSITIVE_INFINITY;
    this.tasks = new Tasks({ intervalMs: minutes(5), staleAfter: 3, hasSeries, allowedPerSecond });
    const { tasks: all } = this;
    const appliances = new Appliances({
      api,
      sink: this.shelf,
      log,
      names,
      ask: (state) => this.asked.push(state.task.id),
    });
    this.observer = new Observer({
      api,
      tasks: all,
      appliances,
      health,
      isHeld: () => this.isHeld,
      notes: () => [],
      clock,
      log,
    });
    this.change(tasks);
    log.take();
  }

  change(tasks: readonly Task[]): void {
    this.observer.changed(this.tasks.reconcile(tasks, this.clock.monotonic()));
  }

  end(...outcomes: readonly Outcome[]): void {
    for (const outcome of outcomes) {
      const state = this.tasks.get(outcome.task.id);
      if (state === undefined) throw new Error(`there is no ${outcome.task.id}`);
      recordOutcome(state, outcome, this.clock.monotonic(), this.clock.now(), 1);
      this.health.observe(state, outcome, this.tasks.deciding, this.clock.monotonic());
      this.observer.ended(state, outcome);
    }
  }

  async pass(ms: number): Promise<void> {
    await this.clock.advance(ms);
    for (const _ of this.tasks.expire(this.clock.monotonic()));
    this.observer.timePassed();
  }

  up(serial: string): string | undefined {
    return this.shelf.up(serial);
  }
}

let it: Watched;

/** Two appliances of two series, all of them polled well. */
beforeEach(() => {
  it = new Watched([inventory, ...fleet(2, 2)]);
  it.end(succeeded(inventory), ...fleet(2, 2).map((each) => succeeded(each)));
  it.lines.take();
});

describe('whether an appliance is up', () => {
  test('is not said before it has been polled', () => {
    const fresh = new Watched(fleet(1, 1));
    expect([fresh.up('a0'), fresh.shelf.state('a0')]).toEqual([undefined, undefined]);
  });

  test('is yes while a value is fresh, and no with the loss of the last one, logged once with its first cause', async () => {
    it.end(failed(task('a0/s0'), answered(502)));
    await it.pass(minutes(5));
    it.end(
      failed(task('a0/s0')),
      failed(task('a0/s1')),
      ...fleet(2, 2)
        .slice(2)
        .map((each) => succeeded(each)),
    );
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
    it.end(failed(task('a0/s0')), failed(task('a0/s1')));
    expect(it.lines.take()).toEqual([]);
    it.end(succeeded(task('a0/s1')));
    expect([it.up('a0'), it.lines.take()]).toEqual(['a0 1', ['info the appliance answers']]);
  });

  test('is no, and logged, from the first round on where there was never a value', () => {
    const fresh = new Watched(fleet(2, 2));
    fresh.end(succeeded(task('a1/s0')), failed(task('a0/s0')));
    expect(fresh.up('a0')).toBeUndefined();
    fresh.end(failed(task('a0/s1')));
    expect([fresh.up('a0'), fresh.lines.take()]).toEqual([
      'a0 0',
      ['info the API answers', 'warn the appliance does not answer'],
    ]);
  });

  test('is not held at yes by a series that rests', async () => {
    await it.pass(minutes(10));
    const backedOff = it.tasks.get('a0/s1');
    it.end(
      ...fleet(2, 2)
        .slice(1)
        .map((each) => succeeded(each)),
      failed(task('a0/s0')),
    );
    if (backedOff) backedOff.backedOff = 'empty';
    await it.pass(minutes(5) + 1);
    expect([it.up('a0'), it.up('a1')]).toEqual(['a0 0', 'a1 1']);
  });

  test('is no, and told apart, where it answers and has no records', () => {
    it.end(succeeded(task('a0/s0'), nothing), succeeded(task('a0/s1'), nothing));
    expect([it.up('a0'), it.shelf.state('a0'), it.observer.up]).toEqual(['a0 0', 'no_records', true]);
    expect(it.lines.take()).toEqual(['warn the appliance has no records']);
    it.end(succeeded(task('a0/s0')));
    expect([it.shelf.state('a0'), it.lines.take()]).toEqual(['reporting', ['info the appliance has records again']]);
  });

  test('is not said of one whose first series is empty before the others were polled: it may only lack that series', () => {
    const fresh = new Watched(fleet(1, 2));
    fresh.end(succeeded(task('a0/s0'), nothing));
    expect([fresh.up('a0'), fresh.lines.take()]).toEqual([undefined, ['info the API answers']]);
    fresh.end(succeeded(task('a0/s1')));
    expect([fresh.shelf.state('a0'), fresh.lines.take()]).toEqual(['reporting', []]);
  });

  test('of one that was renamed is shown under its new name at once', () => {
    const renamed = fleet(2, 2, { appliance: { serial: 'a0', name: 'Boston' } }).slice(0, 2);
    it.change([inventory, ...renamed, ...fleet(2, 2).slice(2)]);
    expect([it.up('a0'), it.up('a1')]).toEqual(['Boston 1', 'a1 1']);
  });

  test('of one that is gone is shown no more', () => {
    it.change([inventory, ...fleet(2, 2).slice(2)]);
    expect([it.up('a0'), it.up('a1')]).toEqual([undefined, 'a1 1']);
    expect(it.lines.take()).toEqual(['info the inventory has changed']);
  });

  test('of one that came back is not what it was', () => {
    it.end(failed(task('a0/s0')), failed(task('a0/s1')));
    it.change([inventory]);
    it.change([inventory, ...fleet(2, 2)]);
    expect([it.shelf.state('a0'), it.shelf.state('a1')]).toEqual([undefined, undefined]);
  });
});

describe('an outage of the whole API', () => {
  async function outage(): Promise<void> {
    await it.pass(minutes(5));
    it.lines.take();
    it.end(...fleet(2, 2).map((each) => failed(each)));
  }

  test('is one line with its reason, and takes every appliance down with its last value', async () => {
    await outage();
    expect([it.up('a0'), it.observer.up]).toEqual(['a0 1', false]);
    await it.pass(minutes(10) + 1);
    expect(it.lines.all.at(-1)).toMatchObject({ text: 'the API cannot be polled', fields: { reason: 'server_error' } });
    expect([it.up('a0'), it.up('a1'), it.observer.up]).toEqual(['a0 0', 'a1 0', false]);
    expect([it.observer.downReason, it.observer.lastError]).toEqual(['server_error', 'answered 500']);
  });

  test('however long it takes, is no further line, and ends with one', async () => {
    await outage();
    it.lines.take();
    for (let probe = 0; probe < 20; probe += 1) it.end(failed(task('a1/s0')));
    expect(it.lines.take()).toEqual([]);
    it.end(succeeded(task('a0/s0')), succeeded(task('a1/s0')));
    expect(it.lines.take()).toEqual(['info the API answers again']);
    expect([it.observer.up, it.observer.lastError, it.up('a0'), it.up('a1')]).toEqual([
      true,
      undefined,
      'a0 1',
      'a1 1',
    ]);
  });

  test('that is over leaves down who stays so', async () => {
    await outage();
    await it.pass(minutes(10) + 1);
    it.end(succeeded(task('a1/s0')));
    it.lines.take();
    it.end(failed(task('a0/s0')));
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
