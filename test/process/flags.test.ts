// Only here: a flag of V8 that this Node.js does not know.
import { spawnSync } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { expect, test } from 'vitest';
import { builtMain, temporaryDirectory } from '../support/program.ts';

/** Starts the program for its version, and then has V8 print the flags in force; it ends the process. */
const asked = `
process.exit = () => {};
process.argv.push('main.js', '--version');
await import(${JSON.stringify(builtMain())});
const { setFlagsFromString } = await import('node:v8');
setFlagsFromString('--help');
`;

const ours = [
  '--semi-space-growth-factor=1',
  '--no-wasm-tier-up',
  '--no-wasm-dynamic-tiering',
  '--heap-growing-percent=50',
];

test('V8 takes every flag that the program sets, and says nothing about any', () => {
  // Into a file: V8 does not wait for the reader of a pipe.
  const said = join(temporaryDirectory(), 'flags');
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', asked], {
    stdio: ['ignore', openSync(said, 'w'), 'pipe'],
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const inForce = [...readFileSync(said, 'utf8').matchAll(/default: (--\S+)/g)].map(([, flag]) => flag);
  expect(ours.filter((flag) => !inForce.includes(flag))).toEqual([]);
});
