import { describe, expect, test } from 'vitest';
import type { Kept } from '../../src/contract/kept.ts';
import type { StateStore } from '../../src/state/file-store.ts';
import { Journal } from '../../src/state/journal.ts';
import { StateKeeper } from '../../src/state/keeper.ts';
import { keptLog } from '../support/kept-log.ts';
import { ManualClock, settle } from '../support/manual-clock.ts';
import { HangingStore, MemoryStore } from '../support/memory-store.ts';
import { isAtLeast } from '../support/program.ts';

/** A keeper of one number, and what it logged: all of it, and warnings alone. */
function keeping(store: StateStore, clock: ManualClock, owners: Readonly<Record<string, string>> = { gfa: 'mine' }) {
  const held = { value: 0, elapsedMs: Number.NaN, shiftMs: Number.NaN };
  const kept: Kept = {
    part: 'number',
    changes: () => [held.value],
    all: () => [held.value],
    restore: (shiftMs, elapsedMs) => {
      let read = 0;
      return {
        put: (value) => {
          if (typeof value !== 'number') throw new TypeError('no number');
          read = value;
        },
        commit: () => Object.assign(held, { value: read, elapsedMs, shiftMs }),
      };
    },
  };
  const { log, lines } = keptLog('info');
  const keeper = new StateKeeper(store, clock, log, owners);
  const told = () => lines.map(({ msg }) => msg);
  const warnings = () => lines.filter(({ level }) => isAtLeast(level, 'warn'));
  return { keeper, kept: [kept], held, told, warnings };
}

/** A store with the number 7 in it, and the clock by which it was saved. */
async function saved(owners?: Readonly<Record<string, string>>) {
  const [store, clock] = [new HangingStore(), new ManualClock()];
  const { keeper, kept, held } = keeping(store, clock, owners);
  await keeper.load(kept);
  held.value = 7;
  await keeper.save();
  return { store, clock };
}

describe('what was saved', () => {
  test('comes back with the time that has gone by', async () => {
    const { store, clock } = await saved();
    clock.step(90_000);
    const { keeper, kept, held, warnings } = keeping(store, clock);
    await keeper.load(kept);
    expect(held).toMatchObject({ value: 7, elapsedMs: 90_000 });
    expect([keeper.errors, warnings()]).toEqual([0, []]);
  });

  test('is never younger than when it was saved, though the wall clock was set back', async () => {
    const { store, clock } = await saved();
    clock.step(-86_400_000);
    const { keeper, kept, held } = keeping(store, clock);
    await keeper.load(kept);
    expect(held).toMatchObject({ value: 7, elapsedMs: 0 });
  });

  test('of an API that is polled no more, or not yet, does not make it foreign', async () => {
    const { store, clock } = await saved({ gfa: 'mine', portal: 'p1' });
    for (const owners of [{ gfa: 'mine' }, { portal: 'p1' }, { gfa: 'mine', other: 'x' }]) {
      const { keeper, kept, held } = keeping(store, clock, owners);
      await keeper.load(kept);
      expect(held.value).toBe(7);
    }
  });

  test('where there is nothing is nothing, without a word', async () => {
    const { keeper, kept, held, warnings } = keeping(new MemoryStore(), new ManualClock());
    await keeper.load(kept);
    expect([held.value, keeper.errors, warnings()]).toEqual([0, 0, []]);
  });
});

/** A journal with these lines, as a keeper writes it. */
async function fileWith(lines: readonly unknown[], last: unknown = { at: 0, up: 0 }): Promise<Buffer> {
  const store = new MemoryStore();
  const heading = { program: 'filer-exporter state', version: 3, owners: { gfa: 'mine' } };
  await new Journal(store, new ManualClock()).rewrite(heading, { lines, last });
  return store.content ?? Buffer.alloc(0);
}

const deep = (): unknown => JSON.parse(`${'['.repeat(70)}${']'.repeat(70)}`);

test.each<[string, (content: Buffer) => Buffer | Promise<Buffer>, string, string?]>([
  ['that is cut within its first state', (content) => content.subarray(0, 90), 'corrupted: it has no whole state'],
  ['whose last line makes no sense', () => fileWith([{ number: 3 }, { number: 'four' }]), 'no number'],
  [
    'with a line that takes too much memory',
    () => fileWith([{ number: deep() }]),
    'corrupted: a line takes too much memory',
  ],
  [
    'whose heading takes too much memory',
    () => Buffer.from(`{"program":"filer-exporter state","version":3,"more":[${'{},'.repeat(30_000)}{}]}\n`),
    'not a state file, or corrupted',
  ],
  ['of another key', (content) => content, 'it belongs to another client key or another service', 'theirs'],
  [
    'of a newer version',
    (content) => Buffer.from(String(content).replace('"version":3', '"version":4')),
    'its version 4 is newer than this program',
  ],
  ['that is empty', () => Buffer.alloc(0), 'not a state file, or corrupted'],
])(
  '[heavy-state] a file %s is put aside with one warning, and counting starts again',
  async (_, spoil, reason, gfa = 'mine') => {
    const { store, clock } = await saved();
    const spoilt = await spoil(store.content ?? Buffer.alloc(0));
    store.content = spoilt;
    const { keeper, kept, held, warnings } = keeping(store, clock, { gfa });
    await keeper.load(kept);
    await keeper.save();
    expect(held.value).toBe(0);
    expect(warnings()).toMatchObject([{ reason, name: expect.stringMatching(/^state\.damaged-2026-/) }]);
    expect(keeper.errors).toBe(1);
    expect(store.asides).toEqual([spoilt]);
    expect(store.content).toBeDefined();
  },
);

test('of a state that cannot be restored whole, no part is restored', async () => {
  const { store, clock } = await saved();
  const { keeper, kept, held } = keeping(store, clock);
  const put = () => {
    throw new TypeError('it makes no sense');
  };
  const broken = { part: 'broken', changes: () => [], all: () => [], restore: () => ({ put, commit: () => {} }) };
  store.content = await fileWith([{ number: 7 }, { broken: 1 }]);
  await keeper.load([...kept, broken]);
  expect([held.value, store.asides.length]).toEqual([0, 1]);
});

describe('a folder that cannot be written to', () => {
  test('costs one warning, is counted, and is used again when it can be', async () => {
    const [store, clock] = [new MemoryStore(), new ManualClock()];
    const { keeper, kept, held, warnings, told } = keeping(store, clock);
    await keeper.load(kept);
    const before = store.content;
    store.fault = Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS' });
    for (held.value = 1; held.value < 6; held.value += 1) await keeper.save();
    expect([keeper.errors, warnings().length, store.content]).toEqual([5, 1, before]);
    store.fault = undefined;
    await keeper.save();
    expect(told().at(-1)).toBe('The state file is written again.');
    store.room = 5;
    await keeper.save();
    expect([keeper.errors, warnings().length]).toEqual([6, 2]);
    const next = keeping(store, clock);
    await next.keeper.load(next.kept);
    expect(next.held.value).toBe(6);
  });

  test('keeps a file that cannot be put aside from being overwritten, until it can', async () => {
    const { store, clock } = await saved();
    const { keeper, kept } = keeping(store, clock, { gfa: 'theirs' });
    const before = store.content;
    store.setAside = () => Promise.reject(new Error('EACCES'));
    await keeper.load(kept);
    await keeper.save();
    expect(store.content).toBe(before);
    store.setAside = MemoryStore.prototype.setAside;
    await keeper.save();
    expect(store.asides).toEqual([before]);
    expect(store.content).not.toBe(before);
  });
});

describe('a file that cannot be read at the start', () => {
  const fault = (code: string) => Object.assign(new Error(`${code}: open '/state'`), { code });

  test('stays as it is, with one warning, and counting begins without it', async () => {
    const { store, clock } = await saved();
    const before = store.content;
    const { keeper, kept, held, warnings } = keeping(store, clock);
    store.read = () => Promise.reject(fault('EACCES'));
    await keeper.load(kept);
    const errors = keeper.errors;
    for (let time = 0; time < 3; time += 1) await keeper.save();
    expect(held.value).toBe(0);
    expect(store.content).toBe(before);
    expect(store.asides).toEqual([]);
    expect(warnings()).toMatchObject([{ msg: expect.stringContaining('cannot be read'), err: { type: 'Error' } }]);
    expect(keeper.errors).toBe(errors + 3);
  });

  test('and can be later goes aside under a name of its own, and what was counted meanwhile is saved', async () => {
    const { store, clock } = await saved();
    const before = store.content;
    const { keeper, kept, held, told, warnings } = keeping(store, clock);
    store.read = () => Promise.reject(fault('EIO'));
    await keeper.load(kept);
    store.read = MemoryStore.prototype.read;
    held.value = 3;
    await keeper.save();
    expect(store.asides).toEqual([before]);
    expect(warnings()[1]).toMatchObject({ name: expect.stringMatching(/^state\.unread-2026-/) });
    expect(told().at(-1)).toBe('The state file is written again.');
    const next = keeping(store, clock);
    await next.keeper.load(next.kept);
    expect(next.held.value).toBe(3);
  });

  test('and turns out not to be there is written as if nothing had been', async () => {
    const [store, clock] = [new MemoryStore(), new ManualClock()];
    const { keeper, kept, warnings } = keeping(store, clock);
    store.fault = fault('EIO');
    await keeper.load(kept);
    store.fault = undefined;
    await keeper.save();
    expect([store.syncs, store.asides, warnings().length]).toEqual([1, [], 1]);
  });
});

describe('a disk that hangs', () => {
  test('holds a save up for ten seconds and no longer, with one warning, and is asked for nothing else meanwhile', async () => {
    const { store, clock } = await saved();
    const { keeper, kept, held, warnings } = keeping(store, clock);
    await keeper.load(kept);
    store.hang();
    const calls = store.calls;
    let isOver = false;
    const saving = keeper.save().then(() => {
      isOver = true;
    });
    await clock.advance(9_999);
    expect(isOver).toBe(false);
    await clock.advance(1);
    await saving;
    held.value = 8;
    for (let time = 0; time < 3; time += 1) await keeper.save();
    for (const part of kept) await keeper.saveUnsynced(part);
    expect(keeper.errors).toBe(4);
    expect(store.calls).toBe(calls + 1);
    expect(warnings()).toMatchObject([
      { err: { type: 'LateError' }, msg: expect.stringContaining('cannot be written') },
    ]);
    expect(JSON.stringify(warnings())).not.toContain('"stack"');
  });

  test('and comes back is written to again, and that is told', async () => {
    const { store, clock } = await saved();
    const { keeper, kept, held, told } = keeping(store, clock);
    await keeper.load(kept);
    store.hang();
    const saving = keeper.save();
    await clock.advance(10_000);
    await saving;
    held.value = 9;
    store.letGo();
    await settle();
    await keeper.save();
    expect(told().at(-1)).toBe('The state file is written again.');
    const next = keeping(store, clock);
    await next.keeper.load(next.kept);
    expect(next.held.value).toBe(9);
    expect(clock.sleeping).toBe(0);
  });

  test('while a new file is written never gets that file: by then the state has moved on', async () => {
    const [store, clock] = [new HangingStore(), new ManualClock()];
    const { keeper, kept, held } = keeping(store, clock);
    store.hang();
    const loading = keeper.load(kept);
    store.letGo();
    await settle();
    await loading;
    const before = store.content;
    store.room = 1;
    await keeper.save();
    store.room = Number.POSITIVE_INFINITY;
    store.hang();
    const saving = keeper.save();
    await clock.advance(10_000);
    await saving;
    held.value = 5;
    store.letGo();
    await settle();
    expect(store.content?.subarray(0, before?.length)).toEqual(before);
    await keeper.save();
    expect(String(store.content)).toContain('{"number":5}');
  });

  test('at the start does not hold it up for longer, and what is on it is never written over unread', async () => {
    const { store, clock } = await saved();
    const before = store.content;
    const { keeper, kept, held, warnings } = keeping(store, clock);
    store.hang();
    const loading = keeper.load(kept);
    // A stop comes while it is being read.
    await keeper.save();
    await clock.advance(10_000);
    await loading;
    held.value = 3;
    await keeper.save();
    expect([store.content, warnings().length]).toEqual([before, 1]);
    store.letGo();
    await settle();
    await keeper.save();
    expect(store.asides).toEqual([before]);
    expect(held.value).toBe(3);
  });
});

test('what turns out to be somebody else’s goes aside, but not what nobody could read', async () => {
  const { store, clock } = await saved();
  const { keeper, kept } = keeping(store, clock);
  store.read = () => Promise.reject(new Error('EIO'));
  await keeper.load(kept);
  await keeper.discard('it belongs to another account');
  expect(store.asides).toEqual([]);
});

test('what was never read is never overwritten', async () => {
  const { store, clock } = await saved();
  const before = store.content;
  await keeping(store, clock).keeper.save();
  expect(store.content).toBe(before);
});

test('a note is in the file at once, and is not waited for on the disk', async () => {
  const { store, clock } = await saved();
  const { keeper, kept, held } = keeping(store, clock);
  await keeper.load(kept);
  const { syncs } = store;
  held.value = 12;
  for (const part of kept) await keeper.saveUnsynced(part);
  expect(store.syncs).toBe(syncs);
  const next = keeping(store, clock);
  await next.keeper.load(next.kept);
  expect(next.held.value).toBe(12);
});

test('an instance whose polls do not save by themselves saves once an interval until it stops', async () => {
  const [store, clock, stop] = [new MemoryStore(), new ManualClock(), new AbortController()];
  const { keeper, kept } = keeping(store, clock);
  await keeper.load(kept);
  const running = keeper.run(60_000, stop.signal);
  await clock.advance(299_000);
  expect(store.syncs).toBe(5);
  stop.abort();
  await running;
  expect(store.syncs).toBe(5);
});
