import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { StateStore } from './store.ts';

/** So many files stay that were put aside: whatever keeps going wrong fills no disk. */
const MOST_ASIDE = 3;

/** What is behind the name of a file that was put aside: a word, and the moment. */
const ASIDE = /^[a-z]+-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z)$/;

/** The state in a file, readable by its owner alone. */
export class FileStore implements StateStore {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  read(): Promise<Buffer | undefined> {
    return readFile(this.#path).catch(unlessMissing);
  }

  /**
   * Writes beside the file, forces it to the disk, and renames it over the old one: whenever the process or the machine
   * stops, the file is the old or the new one. The name beside it is always the same, so that none is left over.
   */
  async write(chunks: readonly Buffer[]): Promise<void> {
    const beside = `${this.#path}.tmp`;
    try {
      const file = await openAnew(beside);
      try {
        for (const chunk of chunks) await file.writeFile(chunk);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(beside, this.#path);
    } catch (error) {
      await rm(beside, { force: true }).catch(() => {});
      throw error;
    }
    await syncFolder(dirname(this.#path));
  }

  async setAside(word: string, moment: Date): Promise<string | undefined> {
    const there = await lstat(this.#path).catch(unlessMissing);
    if (there === undefined) return undefined;
    // A folder in its place is nobody's state: container engines make one where a file to mount is missing.
    if (there.isDirectory()) throw new Error(`${this.#path} is a folder`);
    const name = `${this.#path}.${word}-${moment.toISOString().replaceAll(/[:.]/g, '-')}`;
    await rename(this.#path, name);
    // What cannot be tidied up is no reason to stop: the state itself is well.
    await this.#removeOldest(basename(name)).catch(() => {});
    return name;
  }

  /** Removes what was put aside before `kept`, but for the newest. Names that are not made here are somebody else's. */
  async #removeOldest(kept: string): Promise<void> {
    const [folder, ours] = [dirname(this.#path), `${basename(this.#path)}.`];
    const aside = (await readdir(folder)).flatMap((name) => {
      const moment = name.startsWith(ours) ? ASIDE.exec(name.slice(ours.length))?.[1] : undefined;
      return moment === undefined || name === kept ? [] : [{ name, moment }];
    });
    const newestFirst = aside.toSorted((one, other) => (one.moment < other.moment ? 1 : -1));
    for (const { name } of newestFirst.slice(MOST_ASIDE - 1)) await rm(join(folder, name), { force: true });
  }
}

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;

/** Makes a file; what is there by its name is left over from a process that was killed, or a link laid by somebody else. */
async function openAnew(path: string): Promise<FileHandle> {
  await rm(path, { force: true });
  return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

/** Makes the rename last through a power cut, where the file system can. */
async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, 'r');
    await folder.sync().finally(() => folder.close());
  } catch {
    // Some file systems sync no folders; the file itself is whole either way.
  }
}
