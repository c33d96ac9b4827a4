import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Program, start, temporaryDirectory } from '../support/program.ts';

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
export interface Guarded {
  readonly program: Program;
  readonly folder: string;
  /** Host and port. */
  readonly address: string;
  /** Writes the web configuration anew. */
  write(text: string): void;
}

/** Nothing is polled of what answers nothing: the web side is what is looked at. */
export const NOBODY = { GFA_URL: 'http://127.0.0.1:9/v1', GFA_TOKEN: 'unused' };

/** Starts one in the folder where the files that it names are. */
export async function guarded(
  text: string,
  folder = temporaryDirectory(),
  environment: Readonly<Record<string, string>> = {},
): Promise<Guarded> {
  const path = join(folder, 'web.yml');
  const write = (content: string) => writeFileSync(path, content, { mode: 0o600 });
  write(text);
  const program = start([], { environment: { ...NOBODY, WEB_CONFIG_FILE: path, ...environment } });
  const address = (await program.serving()).replace('http://', '');
  expect(address).toMatch(/^127\.0\.0\.1:\d+$/);
  return { program, folder, address, write };
}

/** bcrypt of `geheim`, at the least cost that there is. */
export const GEHEIM = '$2y$04$u5WNi2lYZIEEOYL/Sl9Ny.TlR2KlYwhu6qm.FHqnBvPinc9tALXS.';

/** bcrypt of `geheim`, at the cost that is usual. */
export const GEHEIM_AT_10 = '$2b$10$7XH.iIFcDnU.4kzrOMfH2OINuYkaCZTfE0McKcbWTi0orQE9BNuXC';
