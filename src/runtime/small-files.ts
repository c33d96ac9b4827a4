import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { type Clock, withTimeout } from './clock.ts';

/** The time limit for reading a file, in milliseconds: its disk may hang for ever. */
const DEADLINE_MS = 5_000;

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
 * With these flags, opening a named pipe does not wait for a writer, and a terminal does not become the controlling
 * terminal.
 */
const { O_RDONLY, O_NONBLOCK, O_NOCTTY } = constants;

/**
 * Reads small texts from regular files, off the event loop and within a time limit: a pipe without a writer or a disk
 * that hangs delays nothing. Rejects with an error with a `code`.
 */
export class SmallFileReader {
  readonly #clock: Clock;
  readonly #maxBytes: number;
  /** Reads in progress, by path: a read that hangs takes one thread, however often the file is requested. */
  readonly #underWay = new Map<string, Promise<string>>();

  constructor(clock: Clock, maxBytes: number) {
    this.#clock = clock;
    this.#maxBytes = maxBytes;
  }

  readonly read: ReadText = (path) => {
    const read = this.#underWay.get(path) ?? this.#text(path).finally(() => this.#underWay.delete(path));
    this.#underWay.set(path, read);
    const late = () => new UnreadableError(path, `not read within ${DEADLINE_MS / 1000} s`);
    return withTimeout(read, this.#clock, DEADLINE_MS, late);
  };

  async #text(path: string): Promise<string> {
    const file = await open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    try {
      if (!(await file.stat()).isFile()) throw new UnreadableError(path, 'not a regular file');
      // One byte more than the limit. Files that report no size are read in the same way.
      const bytes = await buffer(file.createReadStream({ end: this.#maxBytes, autoClose: false }));
      if (bytes.length <= this.#maxBytes) return bytes.toString('utf8');
      throw new UnreadableError(path, `larger than ${this.#maxBytes / 1024} KiB`);
    } finally {
      await file.close();
    }
  }
}
