/**
 * `npm test` and `npm run test:all`: lint, types, build, then the tests of the part that the first argument names.
 * With file names behind it, the tests of those files alone, whichever part they belong to, and nothing else.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { keepBuild, root } from './support/built-main.ts';

const PARTS: Readonly<Record<string, readonly string[]>> = {
  quick: ['--project=quick'],
  all: ['--project=quick', '--project=all'],
};

const [part = '', ...args] = process.argv.slice(2);
const projects = PARTS[part];
if (projects === undefined) throw new Error(`no part "${part}"; expected one of ${Object.keys(PARTS).join(', ')}`);

const namesFiles = args.some((arg) => !arg.startsWith('-'));
const vitest = ['vitest', 'run', '--config', 'test/vitest.config.ts', ...(namesFiles ? [] : projects), ...args];
const steps = namesFiles
  ? [vitest]
  : [['npm', 'run', '--silent', 'check'], ['npm', 'run', '--silent', 'build'], vitest];
for (const [command = '', ...rest] of steps) {
  // npm puts node_modules/.bin on the PATH of what it runs.
  const { status } = spawnSync(command, rest, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' });
  if (status !== 0) process.exit(status ?? 1);
  if (rest.includes('build')) keepBuild();
}
tellProcessorTime();

/** What the steps took, with all processes that they started. Linux alone counts those of a process that has ended. */
function tellProcessorTime(): void {
  if (!existsSync('/proc/self/stat')) return;
  // Behind the name of the program, which may have blanks: `cutime` and `cstime`, in hundredths of a second.
  const fields = (readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1) ?? '').split(' ');
  const [user = 0, system = 0] = fields.slice(13, 15).map((ticks) => Number(ticks) / 100);
  process.stdout.write(`processor time: ${user.toFixed(0)} s user, ${system.toFixed(0)} s system\n`);
}
