import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { until } from './until.ts';

/** The top of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

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

/** Builds of earlier sources are removed after so long, in milliseconds: somebody else's tests may still run them. */
const BUILD_KEPT_MS = 3_600_000;

/**
 * The program as it is built from the sources of this moment. In a folder named by them, so that no build comes in
 * between while it runs, and with a blank in its path, where many an installation has one.
 */
export function builtMain(): string {
  const cache = join(root, 'node_modules', '.cache', 'filer exporter');
  const home = join(cache, hashOf(join(root, 'src')));
  if (existsSync(home)) return join(home, 'dist', 'main.js');
  mkdirSync(cache, { recursive: true });
  for (const name of readdirSync(cache)) {
    const path = join(cache, name);
    if (Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) > BUILD_KEPT_MS) {
      rmSync(path, { recursive: true, force: true });
    }
  }
  const fresh = mkdtempSync(join(cache, 'building-'));
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  // Types are checked by `npm run check`; here they would only cost time.
  const options = ['-p', join(root, 'src'), '--noCheck', '--outDir', join(fresh, 'dist')];
  execFileSync(process.execPath, [compiler, ...options]);
  cpSync(join(root, 'package.json'), join(fresh, 'package.json'));
  try {
    renameSync(fresh, home);
  } catch {
    // Another test file was quicker, with the same sources.
    rmSync(fresh, { recursive: true, force: true });
  }
  return join(home, 'dist', 'main.js');
}

function hashOf(folder: string): string {
  const hash = createHash('sha256');
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
  for (const path of entries.map((entry) => join(folder, entry))) {
    if (statSync(path).isFile()) hash.update(path).update(readFileSync(path));
  }
  return hash.digest('hex').slice(0, 16);
}
