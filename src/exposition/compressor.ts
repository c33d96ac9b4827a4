import type { Clock } from '../runtime/clock.ts';
import { asError } from '../runtime/errors.ts';
import { inSlices } from '../runtime/slices.ts';
import type { Block } from './block.ts';
import { type Codec, type Coding, codec } from './compression.ts';
import type { Prepared } from './line-writer.ts';
import type { LineStore } from './store.ts';

/** After this time without a scraper that accepts it, nothing is compressed in a coding; in milliseconds. */
const FORGOTTEN_MS = 600_000;

/** How many changed blocks may wait for the next scrape. */
const WAITING_BLOCKS = 64;

/** How many bytes a scrape compresses before it is sent: about 20 milliseconds, in slices. */
const SCRAPE_BYTES = 2 * 1024 * 1024;

/** Concurrent compressions on the thread pool: one runs while the result of the other is stored. */
const LANES = 2;

/** A codec, and what to call when compression starts to fail. */
export interface CompressorSettings extends Codec {
  failed(error: Error): void;
}

export const quietCodec: CompressorSettings = { ...codec, failed: () => {} };

/**
 * Compresses changed blocks, only in the codings that scrapers accept. A changed block waits for the next scrape, so that
 * several changes cost one compression. If more blocks wait than a scrape should compress, the thread pool compresses
 * them. A scrape never waits for that: it sends a block that is not compressed yet as it is, and also one that cannot be
 * compressed, for example without free memory, until it changes again.
 */
export class Compressor {
  readonly #store: LineStore;
  readonly #clock: Clock;
  readonly #settings: CompressorSettings;
  readonly #askedAt = new Map<Coding, number>();
  #lanes = 0;
  #isFailing = false;
  #ended: Promise<void> = Promise.resolve();

  constructor(store: LineStore, clock: Clock, settings: CompressorSettings) {
    this.#store = store;
    this.#clock = clock;
    this.#settings = settings;
  }

  /** Resolves when the thread pool has finished what it has to do now. */
  get idle(): Promise<void> {
    return this.#ended;
  }

  /** Compresses waiting blocks for a scrape in this coding, up to a limit. */
  async asked(coding: Coding): Promise<void> {
    const isNew = !this.#askedAt.has(coding);
    this.#askedAt.set(coding, this.#clock.monotonic());
    if (isNew) this.#store.recompress();
    await inSlices(this.#compressWaiting(), this.#clock);
    this.changed();
  }

  /** To be called after every change of the store. */
  changed(): void {
    this.#forget();
    if (this.#askedAt.size === 0) this.#store.uncompressed.clear();
    while (this.#lanes < LANES && this.#isTooMuch()) {
      this.#lanes += 1;
      // Not in the caller's turn: a sequence of changes is compressed after the last one.
      const lane = turn().then(() => this.#work());
      const before = this.#ended;
      // Resolves with undefined: with the previous promise it would keep all earlier ones alive.
      this.#ended = lane.then(() => before);
    }
  }

  /** Compresses a large task's blocks before they are exposed; until then scrapes get the previous ones, compressed. */
  async compressBeforehand(prepared: Prepared): Promise<void> {
    for (const lines of prepared.families) {
      if ('blocks' in lines) for (const block of lines.blocks) await this.#compress(block);
    }
  }

  *#compressWaiting(): Generator<void, void> {
    const { uncompressed, memory } = this.#store;
    let bytes = 0;
    for (const block of uncompressed) {
      uncompressed.delete(block);
      for (const coding of this.#askedAt.keys()) {
        if (block.compressed(coding) !== undefined) continue;
        const lines = block.lines(memory);
        bytes += lines.length;
        try {
          block.keep(coding, this.#settings.compressNow(coding, lines), lines);
          this.#isFailing = false;
        } catch (thrown) {
          this.#failed(thrown);
        }
      }
      if (bytes >= SCRAPE_BYTES) break;
      yield;
    }
    if (bytes > 0) this.#store.recompressed();
  }

  /** Whether more waits than one scrape should compress. */
  #isTooMuch(): boolean {
    const { uncompressed } = this.#store;
    if (uncompressed.size > WAITING_BLOCKS) return true;
    let bytes = 0;
    for (const block of uncompressed) bytes += block.bytes;
    return bytes > SCRAPE_BYTES;
  }

  async #work(): Promise<void> {
    const { uncompressed } = this.#store;
    try {
      while (this.#isTooMuch()) {
        const [block] = uncompressed;
        if (block === undefined) break;
        uncompressed.delete(block);
        await this.#compress(block);
      }
    } finally {
      this.#lanes -= 1;
    }
  }

  async #compress(block: Block): Promise<void> {
    for (const coding of this.#askedAt.keys()) {
      if (block.compressed(coding) !== undefined) continue;
      const release = this.#store.memory.hold();
      const lines = block.lines(this.#store.memory);
      try {
        block.keep(coding, await this.#settings.compress(coding, lines), lines);
        this.#isFailing = false;
      } catch (thrown) {
        this.#failed(thrown);
      } finally {
        release();
      }
    }
    this.#store.recompressed();
  }

  #failed(thrown: unknown): void {
    if (!this.#isFailing) this.#settings.failed(asError(thrown));
    this.#isFailing = true;
  }

  #forget(): void {
    const before = this.#clock.monotonic() - FORGOTTEN_MS;
    for (const [coding, at] of this.#askedAt) {
      if (at >= before) continue;
      this.#askedAt.delete(coding);
      for (const block of this.#store.blocks()) block.drop(coding);
    }
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
