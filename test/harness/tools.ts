import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

/** How a program ended, and what it wrote. */
export interface Result {
  readonly status: number | null;
  readonly output: string;
}

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

export function run(program: string, args: readonly string[]): Result {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  return { status, output: error === undefined ? stdout + stderr : error.message };
}

/** Runs a program that needs something of this process meanwhile, such as a server. */
export async function runAsync(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Result> {
  const child = spawn(program, args, { env: { ...process.env, ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, output };
}

export function isInstalled(program: string): boolean {
  return spawnSync(program, ['--version']).error === undefined;
}

/** Whether a test that needs this program can run. With REQUIRE_TOOLS=1 it runs in any case, and fails without the program. */
export function hasTool(program: string): boolean {
  return process.env.REQUIRE_TOOLS === '1' || isInstalled(program);
}
