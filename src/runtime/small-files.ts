import { resolve } from 'node:path';
import { type Clock, withTimeout } from './clock.ts';
import { readFollowed } from './followed-path.ts';

/** The time limit for reading a file, in milliseconds, because its disk may never respond. */
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
  /** The path without links. */
  readonly path: string;
  /** A folder above in which other users can replace the file or a folder on the way to it. */
  readonly openFolder: string | undefined;
}

/**
 * Reads small texts from regular files, outside of the event loop and within a time limit: a pipe without a writer or a
 * disk that hangs delays nothing. It does not follow links of other users. It rejects with an error with a `code`.
 */
export class SmallFileReader {
  readonly #clock: Clock;
  readonly #maxBytes: number;
  /** Reads in progress, by path: a read that hangs occupies one thread, however often the file is read. */
  readonly #inProgress = new Map<string, Promise<string>>();
  readonly #access = new Map<string, FileAccess>();

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

  /** The access of the descriptor from which the file was last read, so that it belongs to the content that was read. */
  readonly accessTo = (path: string): FileAccess | undefined => this.#access.get(resolve(path));

  async #readText(path: string): Promise<string> {
    this.#access.delete(resolve(path));
    // One byte more than the limit is read, because some files report no size.
    const bytes = await readFollowed(path, this.#maxBytes + 1, (stats, followed) => {
      if (!stats.isFile()) throw new UnreadableError(path, 'not a regular file');
      // Where every user can create files, another user can give a file of root a second name.
      if (followed.isShared && stats.nlink > 1) throw new UnreadableError(path, 'a second name of another file');
      this.#access.set(resolve(path), { mode: stats.mode, uid: stats.uid, ...followed });
    });
    if (bytes.length <= this.#maxBytes) return bytes.toString('utf8');
    throw new UnreadableError(path, `larger than ${this.#maxBytes / 1024} KiB`);
  }
}
