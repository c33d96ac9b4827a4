import { readFileSync } from 'node:fs';
import process from 'node:process';
import { getHeapStatistics } from 'node:v8';
import type { Environment } from '../app/environment.ts';
import { StateFile } from '../app/state-file.ts';
import type { Config } from '../config/config.ts';
import { systemClock } from '../runtime/clock.ts';
import { errorCode } from '../runtime/errors.ts';
import type { Log, LogDestination } from '../runtime/log.ts';
import { printableLines } from '../runtime/printable.ts';
import { systemRandom } from '../runtime/random.ts';
import type { ReadText } from '../runtime/small-files.ts';
import type { Variables } from './load.ts';

/** The heap may use this share of the memory of a container. */
const HEAP_SHARE = 1 / 2;

/** The state file may be as large as this share of the heap. The events and filers that the heap allows need less. */
const STATE_SHARE = 1 / 4;

export function systemEnvironment(log: Log): Environment {
  // V8 never sets its limit below 256 MiB, not even in a container of 128 MiB. The rest of a container's memory is for the
  // process itself and for buffers outside the heap.
  const containerBytes = process.constrainedMemory?.() || Number.POSITIVE_INFINITY;
  const heapBytes = Math.min(getHeapStatistics().heap_size_limit, HEAP_SHARE * containerBytes);
  return {
    clock: systemClock,
    random: systemRandom,
    log,
    version: packageVersion(),
    revision: revision(),
    nodeVersion: process.version,
    heapBytes,
    openState: (path) => new StateFile(path, STATE_SHARE * heapBytes),
  };
}

function packageVersion(): string {
  const file: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return (file as { readonly version: string }).version;
}

/** Returns the facts of `filer_exporter_build_info`, and the platform. */
export function versionLine(): string {
  const { version, platform, arch } = process;
  return `filer-exporter ${packageVersion()} (revision ${revision()}, Node.js ${version}, ${platform}/${arch})`;
}

function revision(): string {
  return process.env.FILER_EXPORTER_REVISION || 'unknown';
}

/** Chooses the format of the log: pretty on a terminal if pino-pretty is installed, which the image does not have. */
export async function logDestination({ format }: Config['log'], out: Output): Promise<LogDestination> {
  if (format === 'json' || (format === 'auto' && !out.isTTY)) return out;
  try {
    const { default: pretty } = await import('pino-pretty');
    return pretty({ destination: out, colorize: out.isTTY === true, singleLine: true, sync: true });
  } catch {
    return out;
  }
}

/** Where a command writes. */
export type Output = NodeJS.WritableStream & { readonly isTTY?: boolean };

/** What a command takes from its process. */
export interface CommandContext {
  readonly variables: Variables;
  /** Reads `.env` and the files that variables name. */
  readonly readFile: ReadText;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Resolves on the first signal. */
  readonly stopped: Promise<void>;
}

/** Standard output could not be written, for example because the disk is full or the reader is gone. */
export class OutputError extends Error {
  override readonly name = 'OutputError';
}

/**
 * Prints a text, with a line break at its end. It may contain names from the services: a terminal must not obey control
 * characters in them, so they are escaped there; a file gets the text unchanged. Rejects with an OutputError.
 */
export async function print(text: string | Buffer, out: Output): Promise<void> {
  const shown = out.isTTY ? printableLines(text.toString()) : text;
  await write(shown, out);
  if (!shown.toString('utf8').endsWith('\n')) await write('\n', out);
}

function write(text: string | Buffer, out: Output): Promise<void> {
  return new Promise((resolve, reject) => {
    out.write(text, (error) => {
      if (!error) return resolve();
      reject(new OutputError(`writing to standard output failed (${errorCode(error)}); expected a file or a reader`));
    });
  });
}

export function abortOn(stopped: Promise<void>): AbortSignal {
  const stopping = new AbortController();
  void stopped.then(() => stopping.abort());
  return stopping.signal;
}
