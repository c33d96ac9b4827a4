import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { type Clock, withTimeout } from './clock.ts';

/** The time limit for reading a file, in milliseconds, because its disk may never respond. */
const DEADLINE_MS = 5_000;

/** Opening a named pipe does not wait for a writer, and a terminal does not become the controlling terminal. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Reads a whole file, or rejects with an error with a `code`. */
export type ReadText = (path: string) => Promise<string>;

/**
 * Returns a function that reads small texts from regular files, outside of the event loop and within a time limit: a pipe
 * without a writer or a disk that hangs delays nothing.
 */
export function smallFileReader(clock: Clock, maxBytes: number): ReadText {
  /** Reads in progress, by path: a read that hangs occupies one thread, however often the file is read. */
  const inProgress = new Map<string, Promise<string>>();
  return (path) => {
    const read = inProgress.get(path) ?? readText(path, maxBytes).finally(() => inProgress.delete(path));
    inProgress.set(path, read);
    return withTimeout(read, clock, DEADLINE_MS, () => unreadable(path, `not read within ${DEADLINE_MS / 1000} s`));
  };
}

async function readText(path: string, maxBytes: number): Promise<string> {
  const file = await open(path, FLAGS);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw unreadable(path, 'not a regular file');
    // One byte more than the limit is read, because some files report no size.
    const bytes = await buffer(file.createReadStream({ end: maxBytes, autoClose: false }));
    if (bytes.length <= maxBytes) return bytes.toString('utf8');
    throw unreadable(path, `larger than ${maxBytes / 1024} KiB`);
  } finally {
    await file.close();
  }
}

function unreadable(path: string, reason: string): Error {
  return Object.assign(new Error(`${path}: ${reason}`), { code: reason });
}
