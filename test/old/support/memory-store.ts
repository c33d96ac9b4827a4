import type { StateStore, StoredFile } from '../../src/state/file-store.ts';
import { settle } from './manual-clock.ts';

/** A state file without a disk. */
export class MemoryStore implements StateStore {
  readonly maxBytes = Number.POSITIVE_INFINITY;
  /** What there is, in pieces: joined at each append it would cost the square of its length. */
  #pieces: Buffer[] | undefined;
  #size = 0;
  /** The file in place, as the process sees it that has installed it. */
  #inPlace: object | undefined;
  readonly asides: Buffer[] = [];
  /** How often something reached the disk for good. */
  syncs = 0;
  /** Bytes written so far. */
  written = 0;
  /** What every call fails with, while there is one. */
  fault: Error | undefined;
  /** Bytes that there is still room for. */
  room = Number.POSITIVE_INFINITY;

  get content(): Buffer | undefined {
    if (this.#pieces === undefined) return undefined;
    if (this.#pieces.length !== 1) this.#pieces = [Buffer.concat(this.#pieces)];
    return this.#pieces[0];
  }

  set content(content: Buffer | undefined) {
    this.#hold(content && [content]);
  }

  async read(): Promise<Buffer | undefined> {
    this.#expectWell();
    return this.content;
  }

  async size(): Promise<number | undefined> {
    return this.#pieces && this.#size;
  }

  async create(): Promise<StoredFile> {
    this.#expectWell();
    let own: Buffer[] | undefined = [];
    const file: StoredFile = {
      append: async (chunk) => {
        this.#expectWell();
        const fits = chunk.subarray(0, this.room);
        this.room -= fits.length;
        this.written += fits.length;
        // What a dead process still writes goes into its own file, which another may have replaced.
        if (own !== undefined) own.push(fits);
        else if (this.#inPlace !== file) return;
        else if (this.#pieces === undefined) this.#hold([fits]);
        else {
          this.#pieces.push(fits);
          this.#size += fits.length;
        }
        if (fits.length < chunk.length) throw new Error('ENOSPC: no space left on device, write');
      },
      sync: async () => {
        this.#expectWell();
        this.syncs += 1;
      },
      install: async () => {
        this.#expectWell();
        this.#hold(own);
        this.#inPlace = file;
        own = undefined;
      },
      close: async () => {},
    };
    return file;
  }

  async setAside(word: string, moment: Date): Promise<string | undefined> {
    this.#expectWell();
    if (this.content === undefined) return undefined;
    this.asides.push(this.content);
    this.content = undefined;
    return `state.${word}-${moment.toISOString()}`;
  }

  release(): void {}

  #hold(pieces: Buffer[] | undefined): void {
    this.#pieces = pieces;
    this.#size = pieces?.reduce((sum, { length }) => sum + length, 0) ?? 0;
  }

  #expectWell(): void {
    if (this.fault) throw this.fault;
  }
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

  override async create(): Promise<StoredFile> {
    await this.#asked();
    const file = await super.create();
    const after =
      <Given extends readonly unknown[]>(call: (...given: Given) => Promise<void>) =>
      async (...given: Given) => {
        await this.#asked();
        return call(...given);
      };
    return { ...file, append: after(file.append), sync: after(file.sync), install: after(file.install) };
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
export class MortalStore extends MemoryStore {
  isDead = false;
  /** The file in place has changed. */
  onChange = () => {};
  readonly #disk: MemoryStore;
  readonly #turns: () => number;

  /** `turns`: for how many turns of the event loop the next call lasts. */
  constructor(disk: MemoryStore, turns: () => number) {
    super();
    this.#disk = disk;
    this.#turns = turns;
  }

  override read(): Promise<Buffer | undefined> {
    return this.#disk.read();
  }

  override size(): Promise<number | undefined> {
    return this.#disk.size();
  }

  override async create(): Promise<StoredFile> {
    const file = await this.#disk.create();
    return {
      /** Killed while it writes, it has written a part. */
      append: (chunk) =>
        this.#slowly(
          () => file.append(chunk),
          () => file.append(chunk.subarray(0, chunk.length / 2)),
        ),
      sync: () => this.#slowly(() => file.sync()),
      install: () => this.#slowly(() => file.install()),
      close: () => file.close(),
    };
  }

  override setAside(word: string, moment: Date): Promise<string | undefined> {
    return this.#disk.setAside(word, moment);
  }

  async #slowly(call: () => Promise<void>, torn?: () => Promise<void>): Promise<void> {
    for (let turn = this.#turns(); turn > 0; turn -= 1) await settle();
    if (this.isDead) {
      await torn?.();
      return new Promise(() => {});
    }
    await call();
    this.onChange();
    for (let turn = this.#turns(); turn > 0; turn -= 1) await settle();
    if (this.isDead) return new Promise(() => {});
  }
}
