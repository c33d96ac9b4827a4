import { lstat, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { StateStore } from './store.ts';

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
      const file = await open(beside, 'w', 0o600);
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

  async setAside(suffix: string): Promise<string | undefined> {
    const there = await lstat(this.#path).catch(unlessMissing);
    if (there === undefined) return undefined;
    // A folder in its place is nobody's state: container engines make one where a file to mount is missing.
    if (there.isDirectory()) throw new Error(`${this.#path} is a folder`);
    const name = `${this.#path}.${suffix}`;
    await rename(this.#path, name);
    return name;
  }
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
