import { expect, test } from 'vitest';
import { StateKeeper } from '../../../src/app/state-keeper.ts';
import { keptLog } from '../../harness/kept-log.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { MemoryStore } from '../../harness/memory-store.ts';

/** A disk that can hang. */
class HangingStore extends MemoryStore {
  writes = 0;
  hangs: Promise<void> = Promise.resolve();

  override async read(): Promise<string | undefined> {
    await this.hangs;
    return super.read();
  }

  override async replace(content: string): Promise<void> {
    await this.hangs;
    await super.replace(content);
    this.writes += 1;
  }
}

/** A process with a counter and a name that it keeps in the state. */
function processWith(store: MemoryStore, clock: ManualClock, owner = 'mine') {
  const { log, lines } = keptLog();
  const kept = { count: 0, shiftMs: 0, name: '' };
  const restoreCount = (count: unknown, shiftMs: number) => {
    if (typeof count !== 'number') throw new Error('expected a number');
    Object.assign(kept, { count, shiftMs });
  };
  const parts = [
    { name: 'count', save: () => kept.count, restore: restoreCount },
    { name: 'name', save: () => kept.name, restore: (name: unknown) => void Object.assign(kept, { name }) },
  ];
  const keeper = new StateKeeper(store, clock, log, { gfa: owner });
  const warnings = () => lines.filter(({ level }) => level === 'warn');
  return { keeper, kept, lines, warnings, load: () => keeper.load(parts) };
}

/** A store in which a process has saved the count 7 and a name. */
async function savedStore() {
  const [store, clock] = [new HangingStore(), new ManualClock()];
  const { keeper, kept, load } = processWith(store, clock);
  await load();
  Object.assign(kept, { count: 7, name: 'edge-lyon' });
  await keeper.save();
  return { store, clock, content: store.content ?? '' };
}

test.each([
  ['restores what was saved, with the time that has passed', 90_000, 90_000],
  ['with a clock that was set back does not make the state younger than it is', -86_400_000, 0],
])('a restart %s', async (_, stepMs, elapsedMs) => {
  const { store, clock } = await savedStore();
  clock.step(stepMs);
  const { kept, keeper, load, warnings } = processWith(store, clock);
  await load();
  expect(kept).toEqual({ count: 7, name: 'edge-lyon', shiftMs: 0 - elapsedMs });
  expect([keeper.errors, warnings()]).toEqual([0, []]);
});

test.each<[string, (content: string) => string, string, string?]>([
  ['is cut', (content) => content.slice(0, -10), 'JSON'],
  ['is of another program', () => '{"kind":"other"}', 'it is not of the kind “filer-exporter state 1”'],
  ['has no parts', (content) => content.replace('"parts"', '"other"'), 'it is not of the kind'],
  ['has a newer version', (content) => content.replace('state 1', 'state 2'), 'it is not of the kind'],
  ['belongs to another client key', (content) => content, 'belongs to another client key', 'theirs'],
])('a file that %s is set aside with one warning, and a new one begins', async (_, spoil, reason, owner) => {
  const { store, clock, content } = await savedStore();
  store.content = spoil(content);
  const { keeper, kept, load, warnings } = processWith(store, clock, owner);
  await load();
  expect([kept.count, keeper.errors, store.content]).toEqual([0, 1, undefined]);
  expect(warnings()).toMatchObject([{ err: { message: expect.stringContaining(reason) }, file: 'aside' }]);
  await keeper.save();
  expect(store.content).toContain('"count":0');
});

test('a part that cannot be restored begins anew, the others continue, and the file is set aside', async () => {
  const { store, clock, content } = await savedStore();
  store.content = content.replace('"count":7', '"count":"seven"');
  const { keeper, kept, load, warnings } = processWith(store, clock);
  await load();
  expect([kept.count, kept.name, keeper.errors]).toEqual([0, 'edge-lyon', 1]);
  expect(warnings()).toMatchObject([{ err: { message: 'restoring the state: count: expected a number' } }]);
});

test('the state is saved 55 seconds after a poll that was saved, and 75 seconds after the last save if it has changed', async () => {
  const [store, clock] = [new HangingStore(), new ManualClock()];
  const { keeper, kept, load } = processWith(store, clock);
  const stopped = new AbortController();
  await load();
  void keeper.run(stopped.signal);
  const writesAfter = async (ms: number, poll = () => {}) => {
    await clock.advance(ms);
    kept.count += 1;
    poll();
    await clock.advance(0);
    return store.writes;
  };
  // The first save shows whether the file can be written.
  expect(await writesAfter(0)).toBe(1);
  expect([await writesAfter(10_000, keeper.saveSoon), store.content]).toEqual([
    2,
    expect.stringContaining('"count":2'),
  ]);
  expect([await writesAfter(54_999, keeper.saveSoon), await writesAfter(1, keeper.saveSoon)]).toEqual([2, 3]);
  expect([await writesAfter(74_999), await writesAfter(1)]).toEqual([3, 4]);
  await clock.advance(75_000);
  await clock.advance(600_000);
  expect([store.writes, store.content]).toEqual([5, expect.stringContaining('"count":6')]);
  stopped.abort();
});

test('a disk that hangs delays the start and each save by ten seconds; both are counted, and logged until it responds', async () => {
  const { store, clock } = await savedStore();
  let respond = () => {};
  store.hangs = new Promise((resolve) => {
    respond = resolve;
  });
  const { keeper, kept, lines, load } = processWith(store, clock);
  await clock.through(load(), 1_000);
  expect([clock.monotonic(), keeper.errors]).toEqual([10_000, 1]);
  kept.count = 20;
  await clock.through(keeper.save(), 1_000);
  // The save at the start failed, too.
  expect([clock.monotonic(), keeper.errors]).toEqual([20_000, 3]);
  respond();
  await keeper.save();
  expect(store.content).toContain('"count":20');
  expect(lines.map(({ msg }) => msg)).toEqual([
    'The state file could not be used. It was set aside, and a new one begins.',
    'The state file could not be written.',
    'The state file was written again.',
  ]);
});
