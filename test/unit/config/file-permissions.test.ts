import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { expect, test } from 'vitest';
import { looseness } from '../../../src/config/file-permissions.ts';
import { temporaryDirectory } from '../../harness/temporary-directory.ts';

const WRITABLE = 'is writable by other users than its owner';

test.each([
  [0o600, true, undefined],
  [0o640, true, undefined],
  [0o644, false, undefined],
  [0o644, true, { isForeign: false, reason: 'is world-readable (mode 0644)' }],
  [0o660, false, { isForeign: false, reason: `${WRITABLE} (mode 0660)` }],
  [0o666, false, { isForeign: true, reason: `${WRITABLE} (mode 0666)` }],
])('mode %o of a file (with a secret: %j) lets others: %j', async (mode, isSecret, loose) => {
  const path = join(temporaryDirectory(), 'file');
  writeFileSync(path, '');
  chmodSync(path, mode);
  const expected = loose && { ...loose, reason: `${path} ${loose.reason}; expected 0640 or stricter` };
  expect(await looseness({ path, isSecret })).toEqual(expected);
});

test('a secret that Kubernetes mounts is readable by all, and a file that is missing is not judged', async () => {
  const folder = join(temporaryDirectory(), '..2026_01_02_03_04_05.123');
  mkdirSync(folder);
  const path = join(folder, 'token');
  writeFileSync(path, '');
  chmodSync(path, 0o644);
  expect(await looseness({ path, isSecret: true })).toBeUndefined();
  expect(await looseness({ path: join(folder, 'missing'), isSecret: true })).toBeUndefined();
});

// Only root can give a file away.
test.runIf(process.geteuid?.() === 0)('a file of another user is foreign', async () => {
  const path = join(temporaryDirectory(), 'file');
  writeFileSync(path, '', { mode: 0o600 });
  chownSync(path, 4_000, 4_000);
  const reason = `${path} belongs to another user (4000); expected root or the user of the exporter (0)`;
  expect(await looseness({ path, isSecret: false })).toEqual({ isForeign: true, reason });
});
