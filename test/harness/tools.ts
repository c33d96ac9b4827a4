import { spawnSync } from 'node:child_process';

/** How a program ended, and what it wrote. */
export interface Result {
  readonly status: number | null;
  readonly output: string;
}

export function run(program: string, args: readonly string[], cwd?: string): Result {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    ...(cwd === undefined ? {} : { cwd }),
  });
  return { status, output: `${stdout ?? ''}${stderr ?? ''}${error === undefined ? '' : error.message}` };
}

/** Whether a test that needs this program can run. With REQUIRE_TOOLS=1 it runs in any case, and fails without the program. */
export function hasTool(program: string): boolean {
  return process.env.REQUIRE_TOOLS === '1' || spawnSync(program, ['--version']).error === undefined;
}
