import type { StateStore } from '../../src/app/state-file.ts';

/** A state file without a disk. */
export class MemoryStore implements StateStore {
  content: string | undefined;
  /** What every access fails with, while the disk is broken. */
  fault: Error | undefined;
  /** The process was killed: what it still writes does not arrive. */
  isFrozen = false;

  async read(): Promise<string | undefined> {
    this.#expectWell();
    return this.content;
  }

  async replace(content: string): Promise<void> {
    this.#expectWell();
    if (!this.isFrozen) this.content = content;
  }

  async setAside(): Promise<string> {
    this.#expectWell();
    this.content = undefined;
    return 'aside';
  }

  #expectWell(): void {
    if (this.fault !== undefined) throw this.fault;
  }
}
