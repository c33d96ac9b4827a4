import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { builtMain, temporaryDirectory } from '../support/program.ts';

const LEAVE = `require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;

/** Holds what it has got until its input ends. */
const TAKE = `
  const [, module, path, at] = process.argv;
  const { InstanceLock } = await import(module);
  const lock = new InstanceLock(path, () => new Error('busy'));
  while (Date.now() < Number(at));
  console.log(await lock.take().then(() => 'has it', () => 'has not'));
  process.stdin.resume();
`;

/* Before, both had it in one round of five. */
test('of two processes that find the lock of a killed one at the same moment, one has it', async () => {
  const module = join(dirname(builtMain()), 'runtime/instance-lock.js');
  for (let round = 0; round < 12; round += 1) {
    const path = join(temporaryDirectory(), 'lock');
    spawnSync(process.execPath, ['-e', LEAVE, path]);
    const take = ['--input-type=module', '-e', TAKE, module, path, String(Date.now() + 400)];
    const both = [1, 2].map(() => spawn(process.execPath, take, { stdio: ['pipe', 'pipe', 'inherit'] }));
    const said = await Promise.all(both.map(async ({ stdout }) => String((await once(stdout, 'data'))[0]).trim()));
    for (const { stdin } of both) stdin.end();
    expect(said.toSorted()).toEqual(['has it', 'has not']);
  }
});
