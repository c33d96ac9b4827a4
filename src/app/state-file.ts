import { constants, type Stats } from 'node:fs';
import { access, lstat, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode, ignoreNotFound } from '../runtime/errors.ts';

/** The state could not be read, understood or saved. */
export class StateFileError extends Error {
  override readonly name = 'StateFileError';
}

/** Where the state is kept: a file, or a replacement for it. */
export interface StateStore {
  /** Resolves with undefined if there is no file, or an empty one, which is a new one. */
  read(): Promise<string | undefined>;
  /** Replaces the whole content. Rejects if another process has replaced it. */
  replace(content: string): Promise<void>;
  /** Keeps the file under another name, with which it resolves. */
  setAside(): Promise<string>;
}

/** A file that is always whole on the disk, also after a power failure, and that only its owner can read. */
export class StateFile implements StateStore {
  readonly #path: string;
  readonly #maxBytes: number;
  /** The version of the file that this process has read or written last; undefined if there was none. */
  #known: string | undefined;

  constructor(path: string, maxBytes: number) {
    this.#path = path;
    this.#maxBytes = maxBytes;
  }

  async read(): Promise<string | undefined> {
    const path = await withoutLinks(this.#path);
    const stats = await stat(path).catch(ignoreNotFound);
    if (stats === undefined) return undefined;
    if (!stats.isFile()) throw new StateFileError(`${path} is not a regular file`);
    if (stats.size > this.#maxBytes) {
      throw new StateFileError(`${path} has ${stats.size} bytes; expected at most ${this.#maxBytes}`);
    }
    const content = await readFile(path, 'utf8');
    this.#known = versionOf(stats);
    return content === '' ? undefined : content;
  }

  async replace(content: string): Promise<void> {
    const path = await withoutLinks(this.#path);
    const next = `${path}.next`;
    // A killed process may have left this file, or another user may have created a link, and `wx` would fail on both.
    await rm(next, { force: true });
    const file = await open(next, 'wx', 0o600);
    try {
      try {
        await file.writeFile(content);
        await file.datasync();
      } finally {
        await file.close();
      }
      await this.#expectKnown(path);
      await rename(next, path);
    } catch (error) {
      await rm(next, { force: true });
      if (errorCode(error) === 'EBUSY') throw new StateFileError(mounted(path), { cause: error });
      throw error;
    }
    this.#known = versionOf(await stat(path));
    await syncFolder(dirname(path));
  }

  async setAside(): Promise<string> {
    const path = await withoutLinks(this.#path);
    const aside = `${path}.unusable`;
    // A device or a folder has no state in it, and does not have to make room.
    if ((await stat(path)).isFile()) await rename(path, aside);
    return aside;
  }

  /** The check and the renaming are not one step: of two processes that write at once, both may succeed. */
  async #expectKnown(path: string): Promise<void> {
    const stats = await stat(path).catch(ignoreNotFound);
    if (stats === undefined || versionOf(stats) === this.#known) return;
    throw new StateFileError(`another process has written ${path}; expected a STATE_FILE for each exporter`);
  }
}

/** Inode numbers are left out, because some file systems change them. */
function versionOf({ mtimeMs, size }: Stats): string {
  return `${mtimeMs} ${size}`;
}

/** If the path is a link, the file that it leads to is read and replaced, not the link. */
async function withoutLinks(path: string): Promise<string> {
  return (await realpath(path).catch(ignoreNotFound)) ?? path;
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

function mounted(path: string): string {
  return `${path} is mounted as a single file, which cannot be replaced; mount its folder`;
}

/** Why the state could never be saved, however long the exporter runs. A full disk, for example, may recover. */
export async function stateFileErrors(path: string | undefined): Promise<readonly string[]> {
  const fault = path === undefined ? undefined : await lastingFault(path);
  return fault === undefined ? [] : [`STATE_FILE: ${fault}`];
}

async function lastingFault(path: string): Promise<string | undefined> {
  const folder = dirname(path);
  const folderCode = await stat(folder).then((stats) => (stats.isDirectory() ? undefined : 'ENOTDIR'), errorCode);
  if (folderCode === 'ENOENT' || folderCode === 'ENOTDIR') {
    return `the folder ${folder} does not exist; create it, writable for the exporter’s user`;
  }
  const entry = await lstat(path).catch(() => undefined);
  if (entry === undefined) return undefined;
  const file = await stat(path).catch(() => undefined);
  if (entry.isSymbolicLink() && file === undefined) {
    return `${path} is a link to a file that does not exist; expected the path of a file, or an unused path`;
  }
  if (file?.isFile() === false) return `${path} exists and is not a file; expected a file or an unused path`;
  const mounts = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  return isMountPoint(await withoutLinks(path), mounts) ? mounted(path) : undefined;
}

/** `mounts`: what Linux shows as `/proc/self/mountinfo`, in which a blank of a path is `\\040`. */
export function isMountPoint(path: string, mounts: string): boolean {
  const shown = path.replaceAll(' ', '\\040');
  return mounts.split('\n').some((line) => line.split(' ')[4] === shown);
}

/** For `--check-config`; the exporter runs without the folder, because the permission may be corrected meanwhile. */
export async function stateFolderErrors(path: string | undefined): Promise<readonly string[]> {
  if (path === undefined) return [];
  const folder = dirname(path);
  const code = await access(folder, constants.W_OK).then(() => undefined, errorCode);
  if (code === undefined || code === 'ENOENT') return [];
  return [`STATE_FILE: the folder ${folder} is not writable (${code}); expected a writable folder`];
}
