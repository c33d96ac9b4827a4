import process from 'node:process';
import { vi } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { type Ended, type Start, temporaryDirectory } from './program.ts';

/** Runs a command that polls nothing to its end in this process, which costs a hundredth of a start; gives what it prints. */
export async function runHere(
  args: readonly string[],
  { environment = {}, directory = temporaryDirectory() }: Omit<Start, 'through'> = {},
): Promise<Pick<Ended, 'code' | 'stdout' | 'stderr'>> {
  const printed = { stdout: '', stderr: '' };
  const home = process.cwd();
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      printed[name] += String(text);
      return true;
    }),
  );
  process.chdir(directory);
  try {
    return { code: await run(args, environment, new Promise(() => {})), ...printed };
  } finally {
    process.chdir(home);
    for (const spy of spies) spy.mockRestore();
  }
}
