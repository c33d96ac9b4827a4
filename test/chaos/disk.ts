import type { Clock } from '../../src/runtime/clock.ts';
import { MemoryStore } from '../support/memory-store.ts';

/** What lies on the disk. */
export interface Content {
  readonly bytes: Buffer | undefined;
  /** By both clocks; undefined before the first write. */
  readonly savedAt: { readonly wall: number; readonly monotonic: number } | undefined;
  /** Whether the last write was taken: whoever reads it goes on where the writer was. */
  readonly isCurrent: boolean;
}

/** A state file without a disk, that says what lies in it and can be full. */
export class Disk extends MemoryStore {
  readonly #clock: Clock;
  readonly #full = new Set<Error>();
  #savedAt: Content['savedAt'];
  #isCurrent = false;

  constructor(clock: Clock) {
    super();
    this.#clock = clock;
  }

  /** What lies on it now. */
  get now(): Content {
    return { bytes: this.content, savedAt: this.#savedAt, isCurrent: this.#isCurrent };
  }

  /** Whether a process that starts now goes on with all that the last one had counted. */
  get isGood(): boolean {
    return this.#isCurrent && this.content !== undefined && this.fault === undefined;
  }

  /** Puts back what lay on it before. */
  put({ bytes, savedAt, isCurrent }: Content): void {
    this.content = bytes;
    this.#savedAt = savedAt;
    this.#isCurrent = isCurrent;
  }

  /** It can be neither read nor written from now on, until what is returned is called. */
  fill(): () => void {
    const fault = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    this.#full.add(fault);
    this.fault = fault;
    return () => {
      this.#full.delete(fault);
      [this.fault] = this.#full;
    };
  }

  override read(): Promise<Buffer | undefined> {
    // Whoever could not read it writes something else from now on.
    if (this.fault !== undefined) this.#isCurrent = false;
    return super.read();
  }

  override async write(chunks: readonly Buffer[]): Promise<void> {
    this.#isCurrent = false;
    await super.write(chunks);
    this.#isCurrent = true;
    this.#savedAt = { wall: this.#clock.now(), monotonic: this.#clock.monotonic() };
  }
}
