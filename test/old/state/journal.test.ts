import { expect, test } from 'vitest';
import { runToEnd } from '../../src/runtime/slices.ts';
import { Journal, readJournal } from '../../src/state/journal.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryStore } from '../support/memory-store.ts';

const HEADING = { program: 'test', version: 1 };
const READS = /^(?:not a state file|corrupted)/;

/** The lines of a journal, as text. */
const linesOf = (content: Buffer) => Array.from(runToEnd(readJournal(content, () => {})).lines(), String);

/** A journal with what each event appended to it: some lines each, and now and then one that is not synced. */
async function written(store = new MemoryStore()) {
  const journal = new Journal(store, new ManualClock(), 4 * 1_048_576);
  await journal.rewrite(HEADING, { lines: [{ whole: 0 }], last: { at: 0 } });
  /** By length of the file: the lines at that moment. */
  const moments = new Map([[store.content?.length ?? 0, ['{"whole":0}', '{"at":0}']]]);
  let lines = [...(moments.values().next().value ?? [])];
  const event = async (at: number, isSynced = at % 4 !== 3) => {
    const own = Array.from({ length: at % 3 }, (_, index) => ({ part: 'x'.repeat(at), index }));
    await journal.append({ lines: own, last: { at } }, isSynced);
    lines = [...lines, ...own.map((one) => JSON.stringify(one)), `{"at":${at}}`];
    moments.set(store.content?.length ?? 0, lines);
  };
  for (let at = 1; at <= 30; at += 1) await event(at);
  return { store, journal, event, moments, content: store.content ?? Buffer.alloc(0) };
}

test('a journal that is cut at any byte has all events up to the last whole one', async () => {
  const { content, moments } = await written();
  const lengths = [...moments.keys()];
  for (let length = lengths[0] ?? 0; length <= content.length; length += 1) {
    const last = lengths.findLast((end) => end <= length) ?? 0;
    expect(linesOf(content.subarray(0, length))).toEqual(moments.get(last));
  }
});

test('[broken-state] a wrong byte anywhere is noticed: the journal is rejected, or has lost what was written last', async () => {
  const { content, moments } = await written();
  const states = [...moments.values()].map(String);
  let refused = 0;
  for (let index = 0; index < content.length; index += 1) {
    const damaged = Buffer.from(content);
    damaged[index] = (damaged[index] ?? 0) ^ 0x41;
    try {
      expect(states.slice(-3)).toContain(String(linesOf(damaged)));
    } catch (error) {
      expect(String(error)).toContain('StateFileError');
      refused += 1;
    }
  }
  expect(refused).toBeGreaterThan(content.length * 0.9);
});

test('a power failure that leaves holes in what was not synced loses that alone', async () => {
  const { event, store, moments } = await written();
  const synced = store.content?.length ?? 0;
  for (let at = 31; at <= 35; at += 1) await event(at, false);
  const content = store.content ?? Buffer.alloc(0);
  for (let from = synced; from < content.length; from += 1) {
    const holed = Buffer.from(content);
    holed.fill(0, from, Math.min(from + 20, content.length));
    const last = [...moments.keys()].findLast((end) => end <= from) ?? 0;
    expect(linesOf(holed)).toEqual(moments.get(last));
  }
});

test('of an event that was being synced when the power failed, a hole in its first line loses all of it', async () => {
  const { event, store, moments } = await written();
  const before = store.content?.length ?? 0;
  await event(32);
  const holed = Buffer.from(store.content ?? '');
  holed.fill(0, before + 2, before + 20);
  expect(linesOf(holed)).toEqual(moments.get(before));
});

test('rewritten, a journal has what it amounts to and what was appended meanwhile, and a kill leaves one of both', async () => {
  const { event, store, journal, content } = await written();
  let seen = 0;
  const lines = function* () {
    for (let index = 0; index < 3; index += 1) {
      yield { whole: index };
      // The file in place is the old one until the end.
      expect(store.content?.subarray(0, content.length)).toEqual(content);
      seen += 1;
    }
  };
  await Promise.all([journal.rewrite(HEADING, { lines: lines(), last: { at: 30 } }), event(31)]);
  expect(seen).toBe(3);
  expect(linesOf(store.content ?? Buffer.alloc(0))).toEqual([
    ...['{"whole":0}', '{"whole":1}', '{"whole":2}', '{"at":30}'],
    ...[expect.stringContaining('"part"'), '{"at":31}'],
  ]);
  await event(32);
  expect(linesOf(store.content ?? Buffer.alloc(0))).toHaveLength(9);
});

test('a journal is long at twice its living length and some MiB, and tried again at twice that if it cannot be rewritten', async () => {
  const { store, journal } = await written();
  const append = (bytes: number) => journal.append({ lines: [], last: 'x'.repeat(bytes) });
  await append(4 * 1_048_576 - 4_000);
  expect(journal.isLong).toBe(false);
  await append(4_000);
  expect(journal.isLong).toBe(true);
  store.room = 10;
  await expect(journal.rewrite(HEADING, { lines: [], last: 'x'.repeat(100) })).rejects.toThrow('ENOSPC');
  store.room = Number.POSITIVE_INFINITY;
  expect([journal.isOpen, journal.isLong]).toEqual([true, false]);
  await append(4 * 1_048_576);
  expect(journal.isLong).toBe(false);
  await append(1_048_576);
  expect(journal.isLong).toBe(true);
});

test('after a failure, whatever was written of it, the next success is a whole new file', async () => {
  const { event, store, journal, content } = await written();
  const lines = linesOf(content);
  store.room = 15;
  await expect(event(31)).rejects.toThrow('ENOSPC');
  expect(linesOf(store.content ?? Buffer.alloc(0))).toEqual(lines);
  expect(journal.isOpen).toBe(false);
  await expect(event(32)).rejects.toThrow('rewritten');
  store.room = Number.POSITIVE_INFINITY;
  await journal.rewrite(HEADING, { lines: [], last: { at: 33 } });
  expect(linesOf(store.content ?? Buffer.alloc(0))).toEqual(['{"at":33}']);
});

test('a file that another process has written is left alone for good', async () => {
  const { event, store, journal } = await written();
  const theirs = Buffer.from('theirs');
  store.content = theirs;
  await expect(event(31)).rejects.toThrow('another process has written the state file');
  await expect(journal.rewrite(HEADING, { lines: [], last: {} })).rejects.toThrow('another process');
  expect(store.content).toBe(theirs);
});

test.each([
  ['nothing', ''],
  ['something else', 'GFA_URL=https://example.com\n'],
])('a file that holds %s is no journal', (_, content) => {
  expect(() => linesOf(Buffer.from(content))).toThrow(READS);
});
