import { beforeEach, describe, expect, test } from 'vitest';
import { answered, failed, fleet, inventory, minutes, nothing, succeeded, task } from './fleet.ts';

import { Watched } from './watched.ts';

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
