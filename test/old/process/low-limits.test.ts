// Only here: a limit of the system that the program cannot start within.
import process from 'node:process';
import { describe, expect, test } from 'vitest';
import { hasLimits } from '../support/machine.ts';
import { run } from '../support/program.ts';

/** Node.js 24 loads a program with few open files, and reserves no address space for WebAssembly. */
const NEEDS_MUCH = Number.parseInt(process.versions.node, 10) < 24;

describe.runIf(hasLimits)('[low-limits] a limit of the process that is too low ends it with a sentence and 1', () => {
  test.each([
    ['open files', '--nofile=60', /^cannot load the program: the limit of open files \(ulimit -n\) is 60; .*\n$/],
    ['address space', '--as=4000000000', /^cannot poll: the limit of address space \(ulimit -v\) is too low: .*\n$/],
  ])('of %s', async (_, limit, sentence) => {
    const environment = { GFA_URL: 'http://127.0.0.1:9/v1', GFA_TOKEN: 'a-token', LOG_LEVEL: 'silent' };
    const { code, stdout, stderr } = await run(['--once'], { environment, through: ['prlimit', limit] });
    expect(code).toBe(1);
    expect(NEEDS_MUCH ? stderr : stdout).toMatch(NEEDS_MUCH ? sentence : /^filer_exporter_build_info/m);
  });
});
