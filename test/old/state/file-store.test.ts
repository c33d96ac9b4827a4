import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { asError } from '../../src/runtime/errors.ts';
import { FileStore } from '../../src/state/file-store.ts';
import { Journal } from '../../src/state/journal.ts';
import { StateKeeper } from '../../src/state/keeper.ts';
import { keptLog } from '../support/kept-log.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { temporaryDirectory } from '../support/program.ts';

const moment = (seconds: number) => new Date(Date.UTC(2026, 2, 2, 10, 0, seconds));

/** Writes a new file, as a journal does. */
async function write(store: FileStore, ...texts: readonly string[]): Promise<void> {
  const file = await store.create();
  try {
    for (const text of texts) await file.append(Buffer.from(text));
    await file.sync();
    await file.install();
  } finally {
    await file.close();
  }
}

/** A new folder, and the state file in it. */
function newStore() {
  const folder = temporaryDirectory();
  const path = join(folder, 'state');
  return { folder, path, store: new FileStore(path) };
}

/** Moves a file away and leaves a link to it in its place. */
function behindLink(path: string, owner = process.getuid?.() ?? 0): void {
  renameSync(path, `${path}.target`);
  symlinkSync(`${path}.target`, path);
  lchownSync(path, owner, owner);
}

function leaveLock(path: string): void {
  const left = "require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))";
  spawnSync(process.execPath, ['-e', left, `${path}.lock`]);
}

test('[shared-state] a second instance on one state file says so, and neither writes it nor moves it aside, until the first has ended', async () => {
  const path = join(temporaryDirectory(), 'state');
  const [first, second] = [new FileStore(path), new FileStore(path)];
  await write(first, 'first');
  const refused = write(second, 'second');
  await expect(refused).rejects.toThrow('another instance uses the state file');
  await expect(second.setAside('damaged', moment(0))).rejects.toThrow('another instance uses the state file');
  const { log, lines } = keptLog('warn');
  log.warn({ err: await refused.catch(asError) }, 'not written');
  expect(lines[0]?.err).toEqual({
    type: 'StateFileError',
    message: expect.stringContaining('another instance'),
  });
  await write(first, 'first again');
  expect(String(await second.read())).toBe('first again');
  first.release();
  await write(second, 'second');
  expect(String(await second.read())).toBe('second');
});

test('a lock that a killed process has left locks nobody out', async () => {
  const path = join(temporaryDirectory(), 'state');
  leaveLock(path);
  expect(existsSync(`${path}.lock`)).toBe(true);
  await write(new FileStore(path), 'state');
  expect(readFileSync(path, 'utf8')).toBe('state');
});

test('two long paths that begin alike are two files', async () => {
  const folder = join(temporaryDirectory(), 'a'.repeat(100));
  mkdirSync(folder);
  const stores = ['one', 'other'].map((name) => new FileStore(join(folder, name)));
  for (const store of stores) await write(store, 'state');
  expect(readdirSync(folder)).toEqual(['one', 'other']);
});

test('a file of somebody in the place of the lock stays', async () => {
  const path = join(temporaryDirectory(), 'state');
  writeFileSync(`${path}.lock`, 'dear');
  await expect(write(new FileStore(path), 'state')).rejects.toThrow('.lock is not a socket');
  expect(readFileSync(`${path}.lock`, 'utf8')).toBe('dear');
});

describe('a state file on the disk', () => {
  test('that is not there is nothing, and nothing is put aside', async () => {
    const store = new FileStore(join(temporaryDirectory(), 'state'));
    expect(await store.read()).toBeUndefined();
    expect(await store.setAside('damaged', moment(0))).toBeUndefined();
  });

  test('holds what was written last, alone in its folder, for its owner’s eyes', async () => {
    const { folder, path, store } = newStore();
    await write(store, 'a longer ', 'text');
    await write(store, 'short');
    expect(String(await store.read())).toBe('short');
    store.release();
    expect(readdirSync(folder)).toEqual(['state']);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('is not read beyond its limit', async () => {
    const path = join(temporaryDirectory(), 'state');
    writeFileSync(path, '12345');
    expect(String(await new FileStore(path, 5).read())).toBe('12345');
    await expect(new FileStore(path, 4).read()).rejects.toThrow('larger than 4 bytes');
  });

  test.each([
    ['a device without end', (path: string) => symlinkSync('/dev/zero', path)],
    ['a pipe without a writer', (path: string) => execFileSync('mkfifo', [path])],
  ])('[endless-state] that is %s is moved aside, and counting starts', async (_, lay) => {
    const folder = temporaryDirectory();
    const path = join(folder, 'state');
    lay(path);
    const { log, lines } = keptLog('warn');
    const keeper = new StateKeeper(new FileStore(path), new ManualClock(), log);
    await keeper.load([]);
    expect(JSON.stringify(lines)).toContain('not a regular file');
    await keeper.save();
    keeper.release();
    expect(readdirSync(folder).toSorted()).toEqual(['state', expect.stringMatching(/^state\.damaged-/)]);
    expect(lstatSync(path).isFile()).toBe(true);
  });

  test.runIf(existsSync('/proc/self/fd'))(
    'is closed, and not replaced, when it is released while it is written',
    async () => {
      const folder = temporaryDirectory();
      const path = join(folder, 'state');
      writeFileSync(path, 'older');
      const journal = new Journal(new FileStore(path), new ManualClock());
      const lines = function* () {
        yield 'a line';
        journal.release();
      };
      await expect(journal.rewrite({}, { lines: lines(), last: {} })).rejects.toThrow('released');
      expect(readFileSync(path, 'utf8')).toBe('older');
      const open = readdirSync('/proc/self/fd').flatMap((fd) => {
        try {
          return [readlinkSync(`/proc/self/fd/${fd}`)];
        } catch {
          return [];
        }
      });
      expect(open.filter((name) => name.startsWith(folder))).toEqual([]);
    },
  );

  test('that cannot be written to its end is the last whole one', async () => {
    const { folder, store } = newStore();
    await write(store, 'whole');
    const file = await store.create();
    await file.append(Buffer.from('half'));
    await file.close();
    expect(String(await store.read())).toBe('whole');
    store.release();
    expect(readdirSync(folder)).toEqual(['state']);
  });

  test('is written over what a killed process left beside it', async () => {
    const { folder, store } = newStore();
    writeFileSync(join(folder, 'state.next'), 'half of a much longer state that was never finished');
    await write(store, 'new');
    expect(String(await store.read())).toBe('new');
    store.release();
    expect(readdirSync(folder)).toEqual(['state']);
  });

  test.each([
    ['a file', 'precious'],
    ['nothing', undefined],
  ])('[state-link] is not written through a link to %s that somebody has laid beside it', async (_, content) => {
    const { folder, path, store } = newStore();
    const target = join(folder, 'target');
    if (content !== undefined) writeFileSync(target, content);
    symlinkSync(target, join(folder, 'state.next'));
    await write(store, 'new');
    expect(lstatSync(path).isFile()).toBe(true);
    expect(String(await store.read())).toBe('new');
    expect(existsSync(target) ? readFileSync(target, 'utf8') : undefined).toBe(content);
  });

  test('goes aside as often as it must, and the last three stay, whatever else lies there', async () => {
    const { folder, path, store } = newStore();
    const others = ['state.backup-1', 'state.next', 'other.damaged-2026-03-02T10-00-00-000Z'];
    for (const name of others) writeFileSync(join(folder, name), 'somebody’s');
    for (const [seconds, word] of ['damaged', 'unread', 'damaged', 'damaged', 'unread'].entries()) {
      writeFileSync(path, `number ${seconds}`);
      await store.setAside(word, moment(seconds));
    }
    store.release();
    const left = readdirSync(folder).filter((name) => !others.includes(name));
    expect(left[0]).toBe('state.damaged-2026-03-02T10-00-02-000Z');
    expect(left.map((name) => readFileSync(join(folder, name), 'utf8')).toSorted()).toEqual([
      'number 2',
      'number 3',
      'number 4',
    ]);
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(others));
  });

  test.runIf(process.getuid?.() === 0).each([
    ['belongs to another user', (path: string) => chownSync(path, 1_234, 1_234), 'it belongs to another user'],
    ['every user can write', (path: string) => chmodSync(path, 0o666), 'every user can write it'],
    ['a link of another user leads to', (path: string) => behindLink(path, 1_234), 'a link of another user'],
  ])('[planted-state] that %s is not read', async (_, change, reason) => {
    const { path, store } = newStore();
    await write(store, 'state');
    change(path);
    await expect(store.read()).rejects.toThrow(reason);
  });

  test('that a link of its own user leads to is read', async () => {
    const { path, store } = newStore();
    await write(store, 'state');
    behindLink(path);
    expect(String(await store.read())).toBe('state');
  });

  test('that the group may write, as in a volume of Kubernetes, is read', async () => {
    const { path, store } = newStore();
    await write(store, 'state');
    chmodSync(path, 0o660);
    expect(String(await store.read())).toBe('state');
  });

  test('that goes aside by a clock that was set back stays all the same', async () => {
    const { folder, path, store } = newStore();
    for (const seconds of [10, 11, 12, 0]) {
      writeFileSync(path, String(seconds));
      const name = await store.setAside('damaged', moment(seconds));
      expect(readFileSync(name ?? '', 'utf8')).toBe(String(seconds));
    }
    store.release();
    expect(readdirSync(folder)).toHaveLength(3);
  });

  test('in a folder that is not there is an error to the caller and leaves nothing', async () => {
    const store = new FileStore(join(temporaryDirectory(), 'missing', 'state'));
    await expect(write(store, 'x')).rejects.toThrow('ENOENT');
  });

  test('whose place a folder has taken is an error, and the folder stays', async () => {
    const { folder, path, store } = newStore();
    mkdirSync(path);
    await expect(store.read()).rejects.toThrow('EISDIR');
    await expect(store.setAside('damaged', moment(0))).rejects.toThrow('is a folder');
    await expect(write(store, 'x')).rejects.toThrow();
    store.release();
    expect(readdirSync(folder)).toEqual(['state']);
  });
});
