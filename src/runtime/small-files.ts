import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { Clock } from './clock.ts';

/** A file that is not read within this, in milliseconds, is given up: its disk may hang for ever. */
const DEADLINE_MS = 5_000;

/** Why a file cannot be read, with the reason where errors of the system have their code. */
class UnreadableError extends Error {
  readonly code: string;

  constructor(path: string, reason: string) {
    super(`${path}: ${reason}`);
    this.code = reason;
  }
}

/** Opened like this a named pipe does not wait for a writer, and a terminal does not become the process's own. */
const { O_RDONLY, O_NONBLOCK, O_NOCTTY } = constants;

/**
 * Reads small texts from regular files, off the event loop and within a time: neither a pipe that nothing writes to nor a
 * disk that hangs holds anything up. Rejects with an error with a `code`.
 */
export class SmallFiles {
  readonly #clock: Clock;
  readonly #mostBytes: number;
  /** Reads under way, by path: one that hangs takes one thread, however often the file is asked for. */
  readonly #underWay = new Map<string, Promise<string>>();

  constructor(clock: Clock, mostBytes: number) {
    this.#clock = clock;
    this.#mostBytes = mostBytes;
  }

  readonly read = async (path: string): Promise<string> => {
    const read = this.#underWay.get(path) ?? this.#begin(path);
    const ended = new AbortController();
    const late = this.#clock.sleep(DEADLINE_MS, ended.signal).then(() => {
      throw new UnreadableError(path, `not read within ${DEADLINE_MS / 1000} s`);
    });
    try {
      return await Promise.race([read, late]);
    } finally {
      // Whichever lost is heard by nothing else.
      late.catch(() => {});
      ended.abort();
    }
  };

  #begin(path: string): Promise<string> {
    const read = this.#text(path).finally(() => this.#underWay.delete(path));
    this.#underWay.set(path, read);
    read.catch(() => {});
    return read;
  }

  async #text(path: string): Promise<string> {
    const file = await open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    try {
      if (!(await file.stat()).isFile()) throw new UnreadableError(path, 'not a regular file');
      const bytes = await this.#bytes(file);
      if (bytes.length <= this.#mostBytes) return bytes.toString('utf8');
      throw new UnreadableError(path, `larger than ${this.#mostBytes / 1024} KiB`);
    } finally {
      await file.close();
    }
  }

  /** All of it, or one byte more than there may be; files that tell no size are read alike. */
  async #bytes(file: FileHandle): Promise<Buffer> {
    const buffer = Buffer.alloc(this.#mostBytes + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length);
      length += bytesRead;
      if (bytesRead === 0 || length === buffer.length) return buffer.subarray(0, length);
    }
  }
}
