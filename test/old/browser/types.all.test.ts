import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { expect, test } from 'vitest';
import { root } from '../support/program.ts';

// `npm run check` passes this folder by: the types of the browser driver come with the driver, which it does not need.
test('the compiler finds no fault in the tests that need a browser', () => {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = [compiler, '--noEmit', '-p', join(root, 'test', 'browser')];
  expect(spawnSync(process.execPath, args, { encoding: 'utf8' })).toMatchObject({ stdout: '', status: 0 });
});
