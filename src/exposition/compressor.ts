import type { Clock } from '../runtime/clock.ts';
import { asError } from '../runtime/errors.ts';
import { inSlices } from '../runtime/slices.ts';
import type { Block } from './block.ts';
import { type Codec, type Coding, codec } from './compression.ts';
import type { Prepared } from './line-writer.ts';
import type { LineStore } from './store.ts';

/** A coding that no scraper has asked for in this time is forgotten, in milliseconds: nothing is compressed in it. */
const FORGOTTEN_MS = 600_000;

/** Changed blocks that may wait for the next scrape. */
const WAITING_BLOCKS = 64;

/** Lines that a scrape compresses before it is sent, in bytes: some 20 milliseconds, in slices. */
const SCRAPE_BYTES = 2 * 1024 * 1024;

/** Compressions on the thread pool at once: one works while the other's result is put away. */
const LANES = 2;

/** What compresses, and who hears of it when that begins to fail. */
export interface CompressorSettings extends Codec {
  failed(error: Error): void;
}

/** Compresses with zlib, and tells no one when it fails. */
export const quietCodec: CompressorSettings = { ...codec, failed: () => {} };

/**
 * Compresses changed blocks, and only in the codings that scrapers ask for. Changed blocks wait: a block that polls change
 * several times between two scrapes is compressed once, by the second of them. Where more wait than a scrape should
 * compress, the thread pool does, and a scrape never waits for that: what is not compressed yet goes out as it is. So does
 * what cannot be compressed, as where memory is short, until it changes again.
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

  /** Resolves when the thread pool has nothing left to do, as far as is known now. */
  get idle(): Promise<void> {
    return this.#ended;
  }

  /** A scraper asks for a coding: compresses what waits, up to the bytes of one scrape. */
  async asked(coding: Coding): Promise<void> {
    const isNew = !this.#askedAt.has(coding);
    this.#askedAt.set(coding, this.#clock.monotonic());
    if (isNew) this.#store.recompress();
    await inSlices(this.#compressWaiting(), this.#clock);
    this.changed();
  }

  /** Something was published or withdrawn. */
  changed(): void {
    this.#forget();
    if (this.#askedAt.size === 0) this.#store.uncompressed.clear();
    while (this.#lanes < LANES && this.#store.uncompressed.size > WAITING_BLOCKS) {
      this.#lanes += 1;
      // Not within the caller's turn: a row of publications is compressed after the last one.
      const lane = turn().then(() => this.#work());
      const before = this.#ended;
      // Resolves with nothing: with what came before it, it would keep all of that alive for good.
      this.#ended = lane.then(() => before);
    }
  }

  /** Compresses a large task's blocks before they are shown: a scrape meanwhile has the last ones, compressed and whole. */
  async compressBeforehand(prepared: Prepared): Promise<void> {
    for (const { blocks } of prepared.families) for (const block of blocks) await this.#compress(block);
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

  async #work(): Promise<void> {
    const { uncompressed } = this.#store;
    try {
      while (uncompressed.size > WAITING_BLOCKS) {
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
