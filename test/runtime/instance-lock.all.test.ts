import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { root, temporaryDirectory } from '../support/program.ts';

const LEAVE = `require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;

const TAKE = `
  const { InstanceLock } = await import('${join(root, 'src/runtime/instance-lock.ts')}');
  const [, path, at] = process.argv;
  const lock = new InstanceLock(path, () => new Error('busy'));
  while (Date.now() < Number(at));
  console.log(await lock.take().then(() => 'has it', () => 'has not'));
  setTimeout(() => process.exit(), 500);
`;

/* Before, both had it in one round of five. */
test('of two processes that find the lock of a killed one at the same moment, one has it', async () => {
  for (let round = 0; round < 12; round += 1) {
    const path = join(temporaryDirectory(), 'lock');
    spawnSync(process.execPath, ['-e', LEAVE, path]);
    const take = ['--import=tsx', '--input-type=module', '-e', TAKE, path, String(Date.now() + 800)];
    const both = [1, 2].map(() => promisify(execFile)(process.execPath, take));
    const said = await Promise.all(both.map(async (one) => (await one).stdout.trim()));
    expect(said.toSorted()).toEqual(['has it', 'has not']);
  }
});
