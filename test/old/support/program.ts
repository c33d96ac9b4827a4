import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { builtMain } from './built-main.ts';
import { until } from './until.ts';

export { builtMain, root } from './built-main.ts';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

/** How severe a line of the log is. */
export type Level = (typeof LEVELS)[number];

/** Whether a line is as severe as that, or more. */
export function isAtLeast(level: Level, least: Level): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(least);
}

/** One line of the log. */
export interface LogLine {
  readonly level: Level;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** How a process ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** From its start to its end. */
  readonly ms: number;
}

/** What a process is started with. Nothing of this process's own environment but `PATH` gets through. */
export interface Start {
  readonly environment?: Readonly<Record<string, string>>;
  /** An empty directory by default. */
  readonly directory?: string;
  /** A command that runs the program, such as `prlimit` with its arguments; it must become the program itself. */
  readonly through?: readonly string[];
}

/** The program, running as a process of its own. */
export interface Program {
  readonly child: ChildProcess;
  readonly stdout: string;
  readonly stderr: string;
  readonly log: readonly LogLine[];
  readonly ended: Promise<Ended>;
  /** When it was started, by `performance.now()`. */
  readonly begun: number;
  /** Its address, once it serves; `withinMs` where it may be slow to start. */
  serving(withinMs?: number): Promise<string>;
  kill(signal: NodeJS.Signals): void;
}

/** A directory that is gone when the test is over. */
export function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'filer-exporter-test-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Starts the program; whatever becomes of it, it is gone when the test is over. */
export function start(args: readonly string[], how: Start = {}): Program {
  const program = launch(args, { directory: how.directory ?? temporaryDirectory(), ...how });
  onTestFinished(() => end(program));
  return program;
}

/** Runs the program to its end. */
export function run(args: readonly string[], how: Start = {}): Promise<Ended> {
  return start(args, how).ended;
}

/** Kills the program where it still runs, and resolves when it is gone. */
export async function end(program: Program): Promise<void> {
  program.child.kill('SIGKILL');
  await program.ended;
}

/** Starts the program for whoever ends it. */
export function launch(
  args: readonly string[],
  { environment = {}, directory = tmpdir(), through = [] }: Start,
): Program {
  main ??= builtMain();
  const begun = performance.now();
  const [command = process.execPath, ...rest] = [...through, process.execPath, main, ...args];
  const child = spawn(command, rest, {
    cwd: directory,
    env: { PATH: process.env.PATH, LISTEN_ADDRESS: '127.0.0.1:0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    texts.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    texts.stderr += text;
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, ...texts, ms: performance.now() - begun }));
  });
  const program: Program = {
    child,
    ended,
    begun,
    get stdout() {
      return texts.stdout;
    },
    get stderr() {
      return texts.stderr;
    },
    get log() {
      return linesOf(texts.stdout);
    },
    serving: (withinMs) => {
      const look = () => {
        const port = program.log.find(({ msg }) => msg.startsWith('listening on '))?.port;
        return port === undefined ? undefined : `http://127.0.0.1:${port}`;
      };
      const address = until('the program to serve', look, withinMs);
      const dead = ended.then(({ code, stdout, stderr }) => {
        throw new Error(`the program ended with ${code} and did not serve: ${stdout}${stderr}`);
      });
      return Promise.race([address, dead]);
    },
    kill: (signal) => {
      child.kill(signal);
    },
  };
  return program;
}

/** The whole lines of a log in JSON. */
export function linesOf(text: string): readonly LogLine[] {
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogLine);
}

let main: string | undefined;
