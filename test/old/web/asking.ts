import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { createApp } from '../../src/app/app.ts';
import { readWebConfig } from '../../src/app/web-access.ts';
import { webFiles } from '../../src/cli/load.ts';
import { systemEnvironment } from '../../src/cli/system-environment.ts';
import { createLog } from '../../src/runtime/log.ts';
import { polledServices } from '../../src/services/services.ts';
import { loadConfig } from '../support/load-config.ts';
import { type LogLine, type Program, start, temporaryDirectory } from '../support/program.ts';

/** How `curl` fared: its exit code, and what the answer said. */
export interface Asked {
  readonly exit: number;
  readonly status: number;
  readonly text: string;
}

/** Asks with a real curl. */
export async function curl(url: string, ...args: readonly string[]): Promise<Asked> {
  const { exit, output } = await ran('curl', ['-sS', '--max-time', '10', '-w', '\n%{http_code}', ...args, url]);
  const [, text = '', status = '0'] = /^([\s\S]*)\n(\d{3})$/.exec(output.trimEnd()) ?? [];
  return { exit, status: Number(status), text };
}

/** Runs a program to its end with nothing to read. */
export function ran(program: string, args: readonly string[]): Promise<{ exit: number; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.stderr.resume();
    child.once('error', reject);
    child.once('close', (code) => resolve({ exit: code ?? -1, output }));
  });
}

/** An exporter behind a web configuration. */
interface Guarded {
  /** Host and port. */
  readonly address: string;
  readonly log: readonly LogLine[];
  /** Writes the web configuration anew. */
  write(text: string): void;
}

/** Nothing is polled of what answers nothing: the web side is what is looked at. */
export const NOBODY = { GFA_URL: 'http://127.0.0.1:9/v1', GFA_TOKEN: 'unused' };

/** Where a web configuration is, beside the files that it names, and what writes it. */
function webFile(folder: string) {
  const path = join(folder, 'web.yml');
  return { path, write: (text: string) => writeFileSync(path, text, { mode: 0o600 }) };
}

/** Starts one in the folder where the files that it names are. */
export async function guarded(
  text: string,
  folder = temporaryDirectory(),
  environment: Readonly<Record<string, string>> = {},
): Promise<Guarded & { readonly program: Program }> {
  const { path, write } = webFile(folder);
  write(text);
  const program = start([], { environment: { ...NOBODY, WEB_CONFIG_FILE: path, ...environment } });
  const address = (await program.serving()).replace('http://', '');
  expect(address).toMatch(/^127\.0\.0\.1:\d+$/);
  return {
    program,
    address,
    write,
    get log() {
      return program.log;
    },
  };
}

/** Starts one in this process, without users: the thread of their passwords runs compiled files only. */
export async function guardedHere(
  text: string,
  folder = temporaryDirectory(),
  variables: Readonly<Record<string, string>> = {},
): Promise<Guarded> {
  const { path, write } = webFile(folder);
  write(text);
  const environment = { ...NOBODY, LISTEN_ADDRESS: '127.0.0.1:0', WEB_CONFIG_FILE: path, ...variables };
  const config = loadConfig({ environment });
  const lines: LogLine[] = [];
  const log = createLog('info', { write: (line) => lines.push(JSON.parse(line) as LogLine) });
  const guard = await readWebConfig(config.web, webFiles);
  const app = createApp(polledServices(config), config, systemEnvironment(log), guard);
  onTestFinished(() => app.stop());
  return { address: `127.0.0.1:${await app.start()}`, write, log: lines };
}

/** bcrypt of `geheim`, at the least cost that there is. */
export const GEHEIM = '$2y$04$u5WNi2lYZIEEOYL/Sl9Ny.TlR2KlYwhu6qm.FHqnBvPinc9tALXS.';

/** bcrypt of `geheim`, at the cost that is usual. */
export const GEHEIM_AT_10 = '$2b$10$7XH.iIFcDnU.4kzrOMfH2OINuYkaCZTfE0McKcbWTi0orQE9BNuXC';
