import { constants } from 'node:fs';
import { lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { ignoreNotFound } from '../runtime/errors.ts';
import { InstanceLock } from '../runtime/instance-lock.ts';
import { StateFault } from './format.ts';

/** The most files that are kept after being moved aside: repeated faults fill no disk. */
const MAX_ASIDE = 3;

/** The most that is read and written, in any memory. */
const MAX_BYTES = 512 * 1_048_576;

/** The suffix of a file that was moved aside: a word, and the moment. */
const ASIDE = /^[a-z]+-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z)$/;

/** Where the state is saved: the file, or a stand-in for it. */
export type StateStore = Pick<FileStore, 'read' | 'write' | 'setAside' | 'release'>;

/** The state in a file, readable by its owner only. */
export class FileStore {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #lock: InstanceLock;

  constructor(path: string, maxBytes = MAX_BYTES) {
    this.#path = path;
    this.#maxBytes = Math.min(MAX_BYTES, Math.floor(maxBytes));
    const busy = () => new StateFault('another instance uses the file; expected a STATE_FILE for each');
    this.#lock = new InstanceLock(`${path}.lock`, busy);
  }

  async read(): Promise<Buffer | undefined> {
    // Opening a named pipe would wait for a writer.
    const file = await open(this.#path, constants.O_RDONLY | constants.O_NONBLOCK).catch(ignoreNotFound);
    if (file === undefined) return undefined;
    try {
      const found = await file.stat();
      if (!found.isFile() && !found.isDirectory()) throw new StateFault('not a regular file');
      if (found.size > this.#maxBytes) throw new StateFault(`larger than ${this.#maxBytes} bytes`);
      return await buffer(file.createReadStream({ end: this.#maxBytes - 1, autoClose: false }));
    } finally {
      await file.close();
    }
  }

  /**
   * Whenever the process or the machine stops, the file is the old or the new one; at most one is left beside it. Rejects
   * while another process writes the same file.
   */
  async write(chunks: readonly Buffer[]): Promise<void> {
    const beside = `${this.#path}.tmp`;
    await this.#lock.take();
    const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
    if (bytes > this.#maxBytes)
      throw new StateFault(`the state of ${bytes} bytes is larger than ${this.#maxBytes} bytes`);
    try {
      // Left over from a killed process, or a link made by another user, on which `wx` fails.
      await rm(beside, { force: true });
      const file = await open(beside, 'wx', 0o600);
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

  release(): void {
    this.#lock.release();
  }

  /** Renames the file, for inspection, by adding `.<word>-<moment>`. Resolves with the new name, or undefined if there is none. */
  async setAside(word: string, moment: Date): Promise<string | undefined> {
    const there = await lstat(this.#path).catch(ignoreNotFound);
    if (there === undefined) return undefined;
    // A folder in its place is no state: container engines create one if a mounted file is missing.
    if (there.isDirectory()) throw new StateFault(`${this.#path} is a folder`);
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
