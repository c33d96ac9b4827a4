import type { Stats } from 'node:fs';
import { lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode, ignoreNotFound } from '../runtime/errors.ts';
import { FOREIGN_LINK, isForeign, readFollowed } from '../runtime/followed-path.ts';
import { InstanceLock } from '../runtime/instance-lock.ts';

/** So many files that were moved aside are kept, so that repeated errors do not fill the disk. */
const MAX_ASIDE = 3;

/** The largest file that is read and written in bytes, however much memory there is. */
const MAX_BYTES = 512 * 1_048_576;

/** Other users must not be able to write. The group may: Kubernetes assigns the files of a volume to a group of the pod. */
const OTHERS_WRITE = 0o002;

/** Matches the suffix of a file that was moved aside: its condition and the time. */
const ASIDE = /^[a-z]+-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z)$/;

/** The state file or its content cannot be used; the message says why. */
export class StateFileError extends Error {
  override readonly name = 'StateFileError';
}

/** Where a journal is kept: the file, or a replacement for it. */
export type StateStore = Pick<FileStore, 'maxBytes' | 'read' | 'create' | 'size' | 'setAside' | 'release'>;

/** A file that is written under another name until it replaces the existing one. */
export interface StoredFile {
  append(chunk: Buffer): Promise<void>;
  sync(): Promise<void>;
  /** Replaces the existing file, so that the replacement survives a power failure. */
  install(): Promise<void>;
  /** Closes the file, and removes it unless it was installed. */
  close(): Promise<void>;
}

/** A file that only its owner can read, with a lock. */
export class FileStore {
  /** The largest file that is read, in bytes. */
  readonly maxBytes: number;
  readonly #path: string;
  readonly #lock: InstanceLock;

  constructor(path: string, maxBytes = MAX_BYTES) {
    this.#path = path;
    this.maxBytes = Math.min(MAX_BYTES, Math.floor(maxBytes));
    const busyError = () =>
      new StateFileError('another instance uses the state file; expected a STATE_FILE for each instance');
    this.#lock = new InstanceLock(`${path}.lock`, busyError);
  }

  /** Resolves with undefined if there is no file. Rejects with a StateFileError if the file must not be read. */
  async read(): Promise<Buffer | undefined> {
    const expectUsable = (stats: Stats) => {
      if (!stats.isFile() && !stats.isDirectory()) throw new StateFileError('not a regular file');
      if (isForeign(stats)) throw new StateFileError('it belongs to another user');
      if (stats.mode & OTHERS_WRITE) throw new StateFileError('every user can write it');
      if (stats.size > this.maxBytes) throw new StateFileError(`larger than ${this.maxBytes} bytes`);
    };
    return readFollowed(this.#path, this.maxBytes, expectUsable).catch((error: unknown) => {
      if (errorCode(error) === FOREIGN_LINK) throw new StateFileError(FOREIGN_LINK);
      return ignoreNotFound(error);
    });
  }

  /** The size of the file in bytes; undefined if there is none. */
  async size(): Promise<number | undefined> {
    return (await lstat(this.#path).catch(ignoreNotFound))?.size;
  }

  /** Rejects while another process has the lock. */
  lock(): Promise<void> {
    return this.#lock.take();
  }

  /** Takes the lock and creates an empty file. */
  async create(): Promise<StoredFile> {
    const nextPath = `${this.#path}.next`;
    await this.lock();
    // A killed process may have left the file, or another user may have created a link, and `wx` would fail on both.
    await rm(nextPath, { force: true });
    const file = await open(nextPath, 'wx', 0o600);
    let isInstalled = false;
    return {
      append: (chunk) => file.writeFile(chunk),
      sync: () => file.datasync(),
      install: async () => {
        await rename(nextPath, this.#path);
        isInstalled = true;
        await syncFolder(dirname(this.#path));
      },
      close: async () => {
        await file.close();
        if (!isInstalled) await rm(nextPath, { force: true }).catch(() => {});
      },
    };
  }

  release(): void {
    this.#lock.release();
  }

  /** Renames the file for inspection by adding `.<condition>-<time>`. Resolves with the new name, or undefined if there is no file. */
  async setAside(condition: string, time: Date): Promise<string | undefined> {
    const existing = await lstat(this.#path).catch(ignoreNotFound);
    if (existing === undefined) return undefined;
    // Container engines create a folder of this name if a mounted file is missing; it contains no state.
    if (existing.isDirectory()) throw new StateFileError(`${this.#path} is a folder; expected a file`);
    await this.#lock.take();
    const name = `${this.#path}.${condition}-${time.toISOString().replaceAll(/[:.]/g, '-')}`;
    await rename(this.#path, name);
    // A failed clean-up is ignored, because the state itself is intact.
    await this.#removeOldest(basename(name)).catch(() => {});
    return name;
  }

  /** Removes files that were moved aside before `kept`, except the newest. Files with other names are not touched. */
  async #removeOldest(kept: string): Promise<void> {
    const [folder, ours] = [dirname(this.#path), `${basename(this.#path)}.`];
    const aside = (await readdir(folder)).flatMap((name) => {
      const moment = name.startsWith(ours) ? ASIDE.exec(name.slice(ours.length))?.[1] : undefined;
      return moment === undefined || name === kept ? [] : [{ name, moment }];
    });
    const newestFirst = aside.toSorted((a, b) => (a.moment < b.moment ? 1 : -1));
    for (const { name } of newestFirst.slice(MAX_ASIDE - 1)) await rm(join(folder, name), { force: true });
  }
}

/** Makes a rename survive a power failure, if the file system supports it. */
async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, 'r');
    await folder.sync().finally(() => folder.close());
  } catch {
    // Some file systems cannot sync folders, but the file itself is complete.
  }
}
