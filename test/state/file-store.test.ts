import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { asError } from '../../src/runtime/errors.ts';
import { createLog } from '../../src/runtime/log.ts';
import { FileStore } from '../../src/state/file-store.ts';
import { StateKeeper } from '../../src/state/keeper.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { temporaryDirectory } from '../support/program.ts';

const moment = (seconds: number) => new Date(Date.UTC(2026, 2, 2, 10, 0, seconds));
const chunks = (...texts: readonly string[]) => texts.map((text) => Buffer.from(text));

function leaveLock(path: string): void {
  const left = "require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))";
  spawnSync(process.execPath, ['-e', left, `${path}.lock`]);
}

test('a second instance on one state file says so, and neither writes it nor moves it aside, until the first has ended', async () => {
  const path = join(temporaryDirectory(), 'state');
  const [first, second] = [new FileStore(path), new FileStore(path)];
  await first.write(chunks('first'));
  const refused = second.write(chunks('second'));
  await expect(refused).rejects.toThrow('another instance uses the file');
  await expect(second.setAside('damaged', moment(0))).rejects.toThrow('another instance uses the file');
  const lines: string[] = [];
  createLog('warn', { write: (line) => lines.push(line) }).warn({ err: await refused.catch(asError) }, 'not written');
  expect(JSON.parse(lines.join('')).err).toEqual({
    type: 'StateFault',
    message: expect.stringContaining('another instance'),
  });
  await first.write(chunks('first again'));
  expect(String(await second.read())).toBe('first again');
  first.release();
  await second.write(chunks('second'));
  expect(String(await second.read())).toBe('second');
});

test('a lock that a killed process has left locks nobody out', async () => {
  const path = join(temporaryDirectory(), 'state');
  leaveLock(path);
  expect(existsSync(`${path}.lock`)).toBe(true);
  await new FileStore(path).write(chunks('state'));
  expect(readFileSync(path, 'utf8')).toBe('state');
});

test('two long paths that begin alike are two files', async () => {
  const folder = join(temporaryDirectory(), 'a'.repeat(100));
  mkdirSync(folder);
  const stores = ['one', 'other'].map((name) => new FileStore(join(folder, name)));
  for (const store of stores) await store.write(chunks('state'));
  expect(readdirSync(folder)).toEqual(['one', 'other']);
});

test('a file of somebody in the place of the lock stays', async () => {
  const path = join(temporaryDirectory(), 'state');
  writeFileSync(`${path}.lock`, 'dear');
  await expect(new FileStore(path).write(chunks('state'))).rejects.toThrow('.lock is not a socket');
  expect(readFileSync(`${path}.lock`, 'utf8')).toBe('dear');
});

describe('a state file on the disk', () => {
  test('that is not there is nothing, and nothing is put aside', async () => {
    const store = new FileStore(join(temporaryDirectory(), 'state'));
    expect(await store.read()).toBeUndefined();
    expect(await store.setAside('damaged', moment(0))).toBeUndefined();
  });

  test('holds what was written last, alone in its folder, for its owner’s eyes', async () => {
    const folder = temporaryDirectory();
    const store = new FileStore(join(folder, 'state'));
    await store.write(chunks('a longer ', 'text'));
    await store.write(chunks('short'));
    expect(String(await store.read())).toBe('short');
    store.release();
    expect(readdirSync(folder)).toEqual(['state']);
    expect(statSync(join(folder, 'state')).mode & 0o777).toBe(0o600);
  });

  test('is not read beyond its limit, nor written', async () => {
    const path = join(temporaryDirectory(), 'state');
    writeFileSync(path, '12345');
    expect(String(await new FileStore(path, 5).read())).toBe('12345');
    await expect(new FileStore(path, 4).read()).rejects.toThrow('larger than 4 bytes');
    await expect(new FileStore(path, 4).write(chunks('abc', 'de'))).rejects.toThrow('larger than 4 bytes');
    expect(readFileSync(path, 'utf8')).toBe('12345');
  });

  test.each([
    ['a device without end', (path: string) => symlinkSync('/dev/zero', path)],
    ['a pipe without a writer', (path: string) => execFileSync('mkfifo', [path])],
  ])('that is %s is moved aside, and counting starts', async (_, lay) => {
    const folder = temporaryDirectory();
    const path = join(folder, 'state');
    lay(path);
    let logged = '';
    const write = (line: string) => {
      logged += line;
    };
    const log = createLog('warn', { write });
    const keeper = new StateKeeper(new FileStore(path), new ManualClock(), log);
    await keeper.load({ state: () => [1], *restore() {} });
    expect(logged).toContain('not a regular file');
    await keeper.save();
    keeper.release();
    expect(readdirSync(folder).toSorted()).toEqual(['state', expect.stringMatching(/^state\.damaged-/)]);
    expect(lstatSync(path).isFile()).toBe(true);
  });

  test('that cannot be written to its end is the last whole one', async () => {
    const folder = temporaryDirectory();
    const store = new FileStore(join(folder, 'state'));
    await store.write(chunks('whole'));
    await expect(store.write([...chunks('half'), { length: 1 } as never])).rejects.toThrow();
    expect(String(await store.read())).toBe('whole');
    store.release();
    expect(readdirSync(folder)).toEqual(['state']);
  });

  test('is written over what a killed process left beside it', async () => {
    const folder = temporaryDirectory();
    writeFileSync(join(folder, 'state.tmp'), 'half of a much longer state that was never finished');
    const store = new FileStore(join(folder, 'state'));
    await store.write(chunks('new'));
    expect(String(await store.read())).toBe('new');
    store.release();
    expect(readdirSync(folder)).toEqual(['state']);
  });

  test.each([
    ['a file', 'precious'],
    ['nothing', undefined],
  ])('is not written through a link to %s that somebody has laid beside it', async (_, content) => {
    const folder = temporaryDirectory();
    const target = join(folder, 'target');
    if (content !== undefined) writeFileSync(target, content);
    symlinkSync(target, join(folder, 'state.tmp'));
    const store = new FileStore(join(folder, 'state'));
    await store.write(chunks('new'));
    expect(lstatSync(join(folder, 'state')).isFile()).toBe(true);
    expect(String(await store.read())).toBe('new');
    expect(existsSync(target) ? readFileSync(target, 'utf8') : undefined).toBe(content);
  });

  test('goes aside as often as it must, and the last three stay, whatever else lies there', async () => {
    const folder = temporaryDirectory();
    const others = ['state.backup-1', 'state.tmp', 'other.damaged-2026-03-02T10-00-00-000Z'];
    for (const name of others) writeFileSync(join(folder, name), 'somebody’s');
    const store = new FileStore(join(folder, 'state'));
    for (const [seconds, word] of ['damaged', 'unread', 'damaged', 'damaged', 'unread'].entries()) {
      writeFileSync(join(folder, 'state'), `number ${seconds}`);
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

  test('that goes aside by a clock that was set back stays all the same', async () => {
    const folder = temporaryDirectory();
    const store = new FileStore(join(folder, 'state'));
    for (const seconds of [10, 11, 12, 0]) {
      writeFileSync(join(folder, 'state'), String(seconds));
      const name = await store.setAside('damaged', moment(seconds));
      expect(readFileSync(name ?? '', 'utf8')).toBe(String(seconds));
    }
    store.release();
    expect(readdirSync(folder)).toHaveLength(3);
  });

  test('in a folder that is not there is an error to the caller and leaves nothing', async () => {
    const store = new FileStore(join(temporaryDirectory(), 'missing', 'state'));
    await expect(store.write(chunks('x'))).rejects.toThrow('ENOENT');
  });

  test('whose place a folder has taken is an error, and the folder stays', async () => {
    const folder = temporaryDirectory();
    mkdirSync(join(folder, 'state'));
    const store = new FileStore(join(folder, 'state'));
    await expect(store.read()).rejects.toThrow('EISDIR');
    await expect(store.setAside('damaged', moment(0))).rejects.toThrow('is a folder');
    await expect(store.write(chunks('x'))).rejects.toThrow();
    store.release();
    expect(readdirSync(folder)).toEqual(['state']);
  });
});
