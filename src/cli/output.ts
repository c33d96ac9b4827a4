import type { Config } from '../config/config.ts';
import { errorCode } from '../runtime/errors.ts';
import type { LogDestination } from '../runtime/log.ts';
import { printableLines } from '../runtime/printable.ts';
import type { Output } from './command-context.ts';

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
