import type { DropReason, Sample } from '../metrics/samples.ts';
import type { Clock } from '../runtime/clock.ts';
import { atOnce, inSlices } from '../runtime/slices.ts';
import { type Body, bodyOf } from './body.ts';
import type { Coding } from './compression.ts';
import { Compressor, type CompressorSettings, quietCodec } from './compressor.ts';
import type { Format } from './format.ts';
import type { Prepared } from './line-writer.ts';
import type { LineStore } from './store.ts';

/** The body of a scrape; its memory is valid until it is released. */
export interface HeldBody extends Body {
  /** Must be called when neither the program nor a socket reads it any more. */
  release(): void;
}

/** The lines of upstream data: written when an answer arrives, sent unchanged to every scrape. */
export class Exposition {
  readonly #store: LineStore;
  readonly #clock: Clock;
  readonly #compressor: Compressor;
  readonly #mostBytes: number;

  /** `mostBytes`: the limit for all lines, including those that are about to be replaced. */
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

  get idle(): Promise<unknown> {
    return this.#compressor.idle;
  }

  get samples(): number {
    return this.#store.samples;
  }

  get version(): number {
    return this.#store.version;
  }

  /**
   * Replaces the task's samples: writes the new lines in slices, then exposes all of them at once. Resolves with what had
   * to be corrected, by reason. Rejects with a RequestError `oversize` if there is no memory for the lines; then the previous
   * samples stay.
   */
  async accept(task: string, samples: Iterable<Sample>): Promise<ReadonlyMap<DropReason, number>> {
    const mostBytes = Math.max(0, this.#mostBytes - this.#store.bytes);
    const prepared = await inSlices(this.#store.prepare(samples, mostBytes), this.#clock);
    await this.#compressor.compressBeforehand(prepared);
    return this.#replace(task, prepared);
  }

  /** The same at once, for a few samples. */
  publish(task: string, samples: Iterable<Sample>): ReadonlyMap<DropReason, number> {
    return this.#replace(task, atOnce(this.#store.prepare(samples)));
  }

  withdraw(task: string, keepsCounts = false): void {
    this.#store.withdraw(task, keepsCounts);
    this.#compressor.changed();
  }

  /** All lines of one moment, followed by `end` of the same moment; compressed if a coding is given. */
  async body(format: Format, coding: Coding | undefined, end: () => Promise<readonly Buffer[]>): Promise<HeldBody> {
    if (coding !== undefined) await this.#compressor.asked(coding);
    const release = this.#store.memory.hold();
    try {
      // Both calls come before the first await, so that lines and end belong to one moment.
      const pieces = this.#store.pieces(format, coding);
      return { ...bodyOf([...pieces, ...(await end())], coding), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  #replace(task: string, prepared: Prepared): ReadonlyMap<DropReason, number> {
    const { cut, duplicates } = prepared.corrected;
    this.#store.replace(task, prepared.families);
    this.#compressor.changed();
    const corrected = new Map<DropReason, number>();
    if (cut > 0) corrected.set('label', cut);
    if (duplicates > 0) corrected.set('duplicate', duplicates);
    return corrected;
  }
}
