import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { isMountPoint, StateFile, stateFileErrors } from '../../../src/app/state-file.ts';
import { temporaryDirectory } from '../../harness/temporary-directory.ts';

const stateFile = (path: string, maxBytes = 1_000) => new StateFile(path, maxBytes);
const newPath = () => join(temporaryDirectory(), 'state.json');

test('the file is replaced whole, alone in its folder, and only its owner can read it', async () => {
  const [path, victim] = [newPath(), newPath()];
  fs.writeFileSync(victim, 'precious');
  // Another user may have laid a link in the place of the new file.
  fs.symlinkSync(victim, `${path}.next`);
  const file = stateFile(path);
  expect(await file.read()).toBeUndefined();
  await file.replace('a long state');
  await file.replace('short');
  expect(await stateFile(path).read()).toBe('short');
  await file.replace('');
  expect(await stateFile(path).read()).toBeUndefined();
  expect(fs.readFileSync(victim, 'utf8')).toBe('precious');
  expect(fs.readdirSync(dirname(path))).toEqual(['state.json']);
  expect(fs.statSync(path).mode & 0o777).toBe(0o600);
});

test('of two processes with one file, the one that wrote last keeps it, and the other says so', async () => {
  const path = newPath();
  const [first, second] = [stateFile(path), stateFile(path)];
  await first.replace('first');
  await second.read();
  await second.replace('second');
  await expect(first.replace('first again')).rejects.toThrow('another process has written');
  await second.replace('second again');
  expect(fs.readFileSync(path, 'utf8')).toBe('second again');
  expect(fs.readdirSync(dirname(path))).toEqual(['state.json']);
});

test('a file that could not be read is never overwritten', async () => {
  const path = newPath();
  const file = stateFile(path);
  fs.writeFileSync(path, 'x'.repeat(1_000));
  expect(await file.read()).toHaveLength(1_000);
  fs.writeFileSync(path, 'x'.repeat(1_001));
  await expect(file.read()).rejects.toThrow('has 1001 bytes; expected at most 1000');
  await expect(file.replace('new')).rejects.toThrow('another process');
  expect(await file.setAside()).toBe(`${path}.unusable`);
  await file.replace('new');
  expect(fs.readdirSync(dirname(path))).toEqual(['state.json', 'state.json.unusable']);
});

test('a link is followed: what is read is what is replaced, and the link stays', async () => {
  const folder = temporaryDirectory();
  const [path, target] = [join(folder, 'state.json'), join(folder, 'other', 'target')];
  fs.mkdirSync(dirname(target));
  fs.writeFileSync(target, 'before');
  fs.symlinkSync(target, path);
  const file = stateFile(path);
  expect(await file.read()).toBe('before');
  await file.replace('after');
  expect(fs.readFileSync(target, 'utf8')).toBe('after');
  expect(fs.readlinkSync(path)).toBe(target);
});

test.each<[string, (path: string) => void, string | undefined]>([
  ['an unused path', () => {}, undefined],
  ['a file', (path) => fs.writeFileSync(path, ''), undefined],
  ['a missing folder', (path) => fs.rmSync(dirname(path), { recursive: true }), 'does not exist; create it'],
  ['a folder', (path) => fs.mkdirSync(path), 'is not a file'],
  ['a link to nothing', (path) => fs.symlinkSync(`${path}-gone`, path), 'is a link to a file that does not exist'],
])('--check-config and the start look at %s', async (_, lay, expected) => {
  const path = newPath();
  lay(path);
  const errors = await stateFileErrors(path);
  expect(errors).toEqual(expected === undefined ? [] : [expect.stringMatching(`^STATE_FILE: .*${expected}`)]);
});

test('a file that is mounted alone is recognized, because a rename cannot replace it', () => {
  const mounts = '36 35 8:1 / /data rw - ext4 /dev/sda1 rw\n37 36 8:1 /x /data/my\\040state rw - ext4 /dev/sda1 rw\n';
  expect(isMountPoint('/data/my state', mounts)).toBe(true);
  expect(isMountPoint('/data/state', mounts)).toBe(false);
});
