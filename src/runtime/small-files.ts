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

class UnreadableError extends Error {
  readonly code: string;

  constructor(path: string, reason: string) {
    super(`${path}: ${reason}`);
    this.code = reason;
  }
}

/**
 * Reads small texts from regular files, outside of the event loop and within a time limit: a pipe without a writer or a
 * disk that hangs delays nothing. It rejects with an error with a `code`.
 */
export class SmallFileReader {
  readonly #clock: Clock;
  readonly #maxBytes: number;
  /** Reads in progress, by path: a read that hangs occupies one thread, however often the file is read. */
  readonly #inProgress = new Map<string, Promise<string>>();

  constructor(clock: Clock, maxBytes: number) {
    this.#clock = clock;
    this.#maxBytes = maxBytes;
  }

  readonly read: ReadText = (path) => {
    const read = this.#inProgress.get(path) ?? this.#readText(path).finally(() => this.#inProgress.delete(path));
    this.#inProgress.set(path, read);
    const timeoutError = () => new UnreadableError(path, `not read within ${DEADLINE_MS / 1000} s`);
    return withTimeout(read, this.#clock, DEADLINE_MS, timeoutError);
  };

  async #readText(path: string): Promise<string> {
    const file = await open(path, FLAGS);
    try {
      const stats = await file.stat();
      if (!stats.isFile()) throw new UnreadableError(path, 'not a regular file');
      // One byte more than the limit is read, because some files report no size.
      const bytes = await buffer(file.createReadStream({ end: this.#maxBytes, autoClose: false }));
      if (bytes.length <= this.#maxBytes) return bytes.toString('utf8');
      throw new UnreadableError(path, `larger than ${this.#maxBytes / 1024} KiB`);
    } finally {
      await file.close();
    }
  }
}
