import type { DropReason, Sample } from '../metrics/samples.ts';
import type { Clock } from '../runtime/clock.ts';
import { inSlices } from '../runtime/slices.ts';
import { type Body, bodyOf } from './body.ts';
import type { Coding } from './compression.ts';
import { Compressor, type CompressorSettings, quietCodec } from './compressor.ts';
import type { Format } from './format.ts';
import type { LineStore } from './store.ts';

/** What is sent of a scrape, for as long as it is held: what it is made of is not given back to the system before. */
export interface HeldBody extends Body {
  /** Nothing of it is read any more, by us or by a socket; must be called. */
  release(): void;
}

/** The lines of upstream data, written when an answer arrives and handed to each scrape as they are. */
export class Exposition {
  readonly #store: LineStore;
  readonly #clock: Clock;
  readonly #compressor: Compressor;
  readonly #mostBytes: number;

  /** `mostBytes`: what all lines together may take, those among them that others are about to replace. */
  constructor(
    store: LineStore,
    clock: Clock,
    mostBytes = Number.POSITIVE_INFINITY,
    settings: CompressorSettings = quietCodec,
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#compressor = new Compressor(store, clock, settings);
    this.#mostBytes = mostBytes;
  }

  /** Resolves when the thread pool has nothing left to compress. */
  get idle(): Promise<unknown> {
    return this.#compressor.idle;
  }

  /** Samples of all tasks. */
  get samples(): number {
    return this.#store.samples;
  }

  /** Changes whenever a task's lines do. */
  get version(): number {
    return this.#store.version;
  }

  /**
   * Puts samples in the place of the task's last ones, at once when their lines have been written, off to the side and in
   * slices. Resolves with what had to be mended, by reason. Rejects with a RequestError `oversize` where no memory is left
   * for the lines; then the last ones stand.
   */
  async accept(task: string, samples: Iterable<Sample>): Promise<ReadonlyMap<DropReason, number>> {
    const mostBytes = Math.max(0, this.#mostBytes - this.#store.bytes);
    const prepared = await inSlices(this.#store.prepare(samples, mostBytes), this.#clock);
    await this.#compressor.compressBeforehand(prepared);
    const { cut, duplicates } = this.#store.replace(task, prepared);
    this.#compressor.changed();
    const mended: (readonly [DropReason, number])[] = [
      ['label', cut],
      ['duplicate', duplicates],
    ];
    return new Map(mended.filter(([, count]) => count > 0));
  }

  /** Takes a task's samples out. */
  withdraw(task: string): void {
    this.#store.withdraw(task);
    this.#compressor.changed();
  }

  /** All lines of one moment, with `end` of the same moment behind them; compressed where a coding is given. */
  async body(format: Format, coding: Coding | undefined, end: () => Promise<readonly Buffer[]>): Promise<HeldBody> {
    if (coding !== undefined) await this.#compressor.asked(coding);
    const release = this.#store.memory.hold();
    try {
      // Taken before anything is awaited: what is behind them is of the same moment.
      const pieces = this.#store.pieces(format, coding);
      return { ...bodyOf([...pieces, ...(await end())], coding), release };
    } catch (error) {
      release();
      throw error;
    }
  }
}
