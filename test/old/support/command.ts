import process from 'node:process';
import { vi } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { type Ended, type Start, temporaryDirectory } from './program.ts';

/** A command listens for these as long as its process lives; the process of the test lives on. */
const EVENTS = ['unhandledRejection', 'uncaughtException'] as const;

/** Runs a command to its end in this process, which costs a tenth of a start or less; gives what it prints. */
export async function runHere(
  args: readonly string[],
  { environment = {}, directory = temporaryDirectory() }: Omit<Start, 'through'> = {},
): Promise<Pick<Ended, 'code' | 'stdout' | 'stderr'>> {
  const printed = { stdout: '', stderr: '' };
  const home = process.cwd();
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text, ...more) => {
      // A warning of Node.js is about the process of the test, such as a file that its garbage collection closes.
      if (!String(text).startsWith(`(node:${process.pid})`)) printed[name] += String(text);
      const done: unknown = more.at(-1);
      if (typeof done === 'function') done();
      return true;
    }),
  );
  const listening = EVENTS.map((event) => [event, process.listeners(event as 'exit')] as const);
  process.chdir(directory);
  try {
    return { code: await run(args, environment, new Promise(() => {})), ...printed };
  } finally {
    process.chdir(home);
    for (const spy of spies) spy.mockRestore();
    for (const [event, before] of listening) {
      for (const each of process.listeners(event as 'exit')) if (!before.includes(each)) process.off(event, each);
    }
  }
}
