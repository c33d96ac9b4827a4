import type { StateStore } from '../../src/state/file-store.ts';
import { settle } from './manual-clock.ts';

/** A state file without a disk. */
export class MemoryStore implements StateStore {
  content: Buffer | undefined;
  readonly asides: Buffer[] = [];
  writes = 0;
  /** What every call fails with, while there is one. */
  fault: Error | undefined;

  read(): Promise<Buffer | undefined> {
    return this.fault ? Promise.reject(this.fault) : Promise.resolve(this.content);
  }

  write(chunks: readonly Buffer[]): Promise<void> {
    if (this.fault) return Promise.reject(this.fault);
    this.content = Buffer.concat(chunks);
    this.writes += 1;
    return Promise.resolve();
  }

  setAside(word: string, moment: Date): Promise<string | undefined> {
    if (this.fault) return Promise.reject(this.fault);
    if (this.content === undefined) return Promise.resolve(undefined);
    this.asides.push(this.content);
    this.content = undefined;
    return Promise.resolve(`state.${word}-${moment.toISOString()}`);
  }

  release(): void {}
}

/** A disk that hangs when it is told to: what it is asked for then is done when it is let go. */
export class HangingStore extends MemoryStore {
  /** How often it was asked for anything. */
  calls = 0;
  #held: Promise<void> | undefined;
  #release = () => {};

  hang(): void {
    this.#held = new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  letGo(): void {
    this.#held = undefined;
    this.#release();
  }

  override async read(): Promise<Buffer | undefined> {
    await this.#asked();
    return super.read();
  }

  override async write(chunks: readonly Buffer[]): Promise<void> {
    await this.#asked();
    return super.write(chunks);
  }

  override async setAside(word: string, moment: Date): Promise<string | undefined> {
    await this.#asked();
    return super.setAside(word, moment);
  }

  #asked(): Promise<void> | undefined {
    this.calls += 1;
    return this.#held;
  }
}

/** What one process sees of a store: slow, and nothing that it does takes effect once it is dead. */
export class MortalStore implements StateStore {
  isDead = false;
  readonly #disk: MemoryStore;
  readonly #turns: () => number;

  /** `turns`: for how many turns of the event loop the next write lasts. */
  constructor(disk: MemoryStore, turns: () => number) {
    this.#disk = disk;
    this.#turns = turns;
  }

  read(): Promise<Buffer | undefined> {
    return this.#disk.read();
  }

  async write(chunks: readonly Buffer[]): Promise<void> {
    for (let turn = this.#turns(); turn > 0; turn -= 1) await settle();
    if (this.isDead) return new Promise(() => {});
    await this.#disk.write(chunks);
    for (let turn = this.#turns(); turn > 0; turn -= 1) await settle();
    if (this.isDead) return new Promise(() => {});
  }

  release(): void {}

  setAside(word: string, moment: Date): Promise<string | undefined> {
    return this.#disk.setAside(word, moment);
  }
}
