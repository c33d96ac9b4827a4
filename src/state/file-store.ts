import { constants } from 'node:fs';
import { lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { ignoreNotFound } from '../runtime/errors.ts';
import { isForeign } from '../runtime/followed-path.ts';
import { InstanceLock } from '../runtime/instance-lock.ts';

/** The most files that are kept after being moved aside: repeated faults fill no disk. */
const MAX_ASIDE = 3;

/** The most that is read and written, in bytes, in any memory. */
const MAX_BYTES = 512 * 1_048_576;

/** The group may write: Kubernetes gives the files of a volume to a group of the pod. */
const OTHERS_WRITE = 0o002;

/** The suffix of a file that was moved aside: a word, and the moment. */
const ASIDE = /^[a-z]+-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z)$/;

/** The file or its content cannot be used; the message says why. */
export class StateFileError extends Error {
  override readonly name = 'StateFileError';
}

/** Where a journal is kept: the file, or a replacement for it. */
export type StateStore = Pick<FileStore, 'maxBytes' | 'read' | 'create' | 'size' | 'setAside' | 'release'>;

/** A file that is written beside the one in place until it takes that place. */
export interface StoredFile {
  append(chunk: Buffer): Promise<void>;
  sync(): Promise<void>;
  /** Takes the place of the file, also after a power failure. */
  install(): Promise<void>;
  /** Removes the file unless it has taken its place. */
  close(): Promise<void>;
}

/** A file that only its owner can read, with a lock. */
export class FileStore {
  /** The most that is read, in bytes. */
  readonly maxBytes: number;
  readonly #path: string;
  readonly #lock: InstanceLock;

  constructor(path: string, maxBytes = MAX_BYTES) {
    this.#path = path;
    this.maxBytes = Math.min(MAX_BYTES, Math.floor(maxBytes));
    const busy = () => new StateFileError('another instance uses the file; expected a STATE_FILE for each');
    this.#lock = new InstanceLock(`${path}.lock`, busy);
  }

  /** Undefined if there is no file. Rejects with a StateFileError if it must not be read. */
  async read(): Promise<Buffer | undefined> {
    // Opening a named pipe would wait for a writer.
    const file = await open(this.#path, constants.O_RDONLY | constants.O_NONBLOCK).catch(ignoreNotFound);
    if (file === undefined) return undefined;
    try {
      const stats = await file.stat();
      if (!stats.isFile() && !stats.isDirectory()) throw new StateFileError('not a regular file');
      if (isForeign(stats)) throw new StateFileError('it belongs to another user');
      if (stats.mode & OTHERS_WRITE) throw new StateFileError('every user can write it');
      if (stats.size > this.maxBytes) throw new StateFileError(`larger than ${this.maxBytes} bytes`);
      return await buffer(file.createReadStream({ end: this.maxBytes - 1, autoClose: false }));
    } finally {
      await file.close();
    }
  }

  /** The size of the file in bytes; undefined if there is none. */
  async size(): Promise<number | undefined> {
    return (await lstat(this.#path).catch(ignoreNotFound))?.size;
  }

  /** Rejects while another process has the lock. */
  lock(): Promise<void> {
    return this.#lock.take();
  }

  /** A new, empty file, under the lock. */
  async create(): Promise<StoredFile> {
    const beside = `${this.#path}.next`;
    await this.lock();
    // Left over from a killed process, or a link made by another user, on which `wx` fails.
    await rm(beside, { force: true });
    const file = await open(beside, 'wx', 0o600);
    let isInstalled = false;
    return {
      append: (chunk) => file.writeFile(chunk),
      sync: () => file.datasync(),
      install: async () => {
        await rename(beside, this.#path);
        isInstalled = true;
        await syncFolder(dirname(this.#path));
      },
      close: async () => {
        await file.close();
        if (!isInstalled) await rm(beside, { force: true }).catch(() => {});
      },
    };
  }

  release(): void {
    this.#lock.release();
  }

  /** Renames the file, for inspection, by adding `.<word>-<moment>`. Resolves with the new name, or undefined if there is none. */
  async setAside(word: string, moment: Date): Promise<string | undefined> {
    const there = await lstat(this.#path).catch(ignoreNotFound);
    if (there === undefined) return undefined;
    // A folder in its place is no state: container engines create one if a mounted file is missing.
    if (there.isDirectory()) throw new StateFileError(`${this.#path} is a folder`);
    await this.#lock.take();
    const name = `${this.#path}.${word}-${moment.toISOString().replaceAll(/[:.]/g, '-')}`;
    await rename(this.#path, name);
    // A failed clean-up is ignored: the state itself is fine.
    await this.#removeOldest(basename(name)).catch(() => {});
    return name;
  }

  /** Removes the files moved aside before `kept`, except the newest. Files with other names are not ours. */
  async #removeOldest(kept: string): Promise<void> {
    const [folder, ours] = [dirname(this.#path), `${basename(this.#path)}.`];
    const aside = (await readdir(folder)).flatMap((name) => {
      const moment = name.startsWith(ours) ? ASIDE.exec(name.slice(ours.length))?.[1] : undefined;
      return moment === undefined || name === kept ? [] : [{ name, moment }];
    });
    const newestFirst = aside.toSorted((one, other) => (one.moment < other.moment ? 1 : -1));
    for (const { name } of newestFirst.slice(MAX_ASIDE - 1)) await rm(join(folder, name), { force: true });
  }
}

/** Makes the rename survive a power failure, if the file system can. */
async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, 'r');
    await folder.sync().finally(() => folder.close());
  } catch {
    // Some file systems cannot sync folders; the file itself is complete either way.
  }
}
