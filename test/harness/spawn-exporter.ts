import { type ChildProcess, spawn } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { LogLine } from './kept-log.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { until } from './until.ts';

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The built program as a process of its own, on the real clock. */
export interface Child {
  readonly process: ChildProcess;
  /** What it wrote to standard error so far. */
  readonly stderr: string;
  /** The whole lines of its log so far. */
  readonly log: readonly LogLine[];
  readonly ended: Promise<Ended>;
  /** Resolves with its address once it serves. */
  serving(): Promise<string>;
}

/**
 * Starts the built program in an empty folder with this environment and no other. Whatever becomes of it, it is gone when
 * the test is over.
 */
export function spawnExporter(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd = temporaryDirectory(),
): Child {
  const child = spawn(process.execPath, [main, ...args], {
    cwd,
    env: { PATH: process.env.PATH, LISTEN_ADDRESS: '127.0.0.1:0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
    });
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, ...texts }));
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return {
    process: child,
    ended,
    get stderr() {
      return texts.stderr;
    },
    get log() {
      const lines = texts.stdout.slice(0, texts.stdout.lastIndexOf('\n') + 1).split('\n');
      return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as LogLine);
    },
    serving: () => {
      const address = until('the program to serve', () => {
        const [, port] = /"port":(\d+)/.exec(texts.stdout) ?? [];
        return port && `http://127.0.0.1:${port}`;
      });
      const failed = ended.then(({ code, stderr }) => Promise.reject(new Error(`it ended with ${code}: ${stderr}`)));
      return Promise.race([address, failed]);
    },
  };
}
