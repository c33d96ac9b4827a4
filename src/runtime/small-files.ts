import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type Clock, withTimeout } from './clock.ts';
import { followPath } from './followed-path.ts';

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

/** Who can change a file that was read, and who can read it. */
export interface FileAccess {
  readonly mode: number;
  readonly uid: number;
  /** Without links. */
  readonly path: string;
  /** A folder above in which other users can replace it. */
  readonly openFolder: string | undefined;
}

/**
 * With these flags, no link is followed that was laid meanwhile, opening a named pipe does not wait for a writer, and a
 * terminal does not become the controlling terminal.
 */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * Reads small texts from regular files, off the event loop and within a time limit: a pipe without a writer or a disk
 * that hangs delays nothing. No link of another user is followed. Rejects with an error with a `code`.
 */
export class SmallFileReader {
  readonly #clock: Clock;
  readonly #maxBytes: number;
  /** Reads in progress, by path: a read that hangs takes one thread, however often the file is requested. */
  readonly #underWay = new Map<string, Promise<string>>();
  readonly #access = new Map<string, FileAccess>();

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

  /** Of the descriptor from which a file was read last: it is about that content, and not about another file. */
  readonly accessTo = (path: string): FileAccess | undefined => this.#access.get(resolve(path));

  async #text(path: string): Promise<string> {
    this.#access.delete(resolve(path));
    const followed = await followPath(path);
    const file = await open(followed.path, FLAGS);
    try {
      const stats = await file.stat();
      if (!stats.isFile()) throw new UnreadableError(path, 'not a regular file');
      // Another user can give a file of root's a second name where everyone can make files.
      if (followed.isShared && stats.nlink > 1) throw new UnreadableError(path, 'a second name of another file');
      this.#access.set(resolve(path), { mode: stats.mode, uid: stats.uid, ...followed });
      // One byte more than the limit. Files that report no size are read in the same way.
      const bytes = await buffer(file.createReadStream({ end: this.#maxBytes, autoClose: false }));
      if (bytes.length <= this.#maxBytes) return bytes.toString('utf8');
      throw new UnreadableError(path, `larger than ${this.#maxBytes / 1024} KiB`);
    } finally {
      await file.close();
    }
  }
}
