import type { Clock } from '../runtime/clock.ts';
import { asError } from '../runtime/errors.ts';
import { inTurns } from '../runtime/slices.ts';
import type { Block } from './block.ts';
import { type Codec, type Coding, codec } from './compression.ts';
import type { Prepared } from './line-writer.ts';
import type { LineStore } from './store.ts';

/** After this time without a scraper that accepts it, nothing is compressed in a coding; in milliseconds. */
const FORGOTTEN_MS = 600_000;

/** How many bytes a scrape compresses before it is sent: about 20 milliseconds, in slices. */
const SCRAPE_BYTES = 2 * 1024 * 1024;

/** How many bytes of changed blocks may wait for the next scrape: several changes to one block then cost one new buffer. */
const WAITING_BYTES = 1.5 * 1024 * 1024;

/** Concurrent compressions on the thread pool: one runs while the result of the other is stored. */
const LANES = 2;

/** A codec, and what to call when compression starts to fail. */
export interface CompressorSettings extends Codec {
  failed(error: Error): void;
}

export const quietCodec: CompressorSettings = { ...codec, failed: () => {} };

/**
 * Compresses changed blocks, only in the codings that scrapers accept. A changed block waits for the next scrape, so that
 * several changes cost one compression. What waits beyond the amount that a scrape should compress is compressed on the
 * thread pool. A scrape never waits for that: it sends a block that is not compressed yet as it is, and also one that cannot be
 * compressed, for example without free memory, until it changes again.
 */
export class Compressor {
  readonly #store: LineStore;
  readonly #clock: Clock;
  readonly #settings: CompressorSettings;
  readonly #askedAt = new Map<Coding, number>();
  readonly #lanes = new Set<Promise<void>>();
  #isFailing = false;

  constructor(store: LineStore, clock: Clock, settings: CompressorSettings) {
    this.#store = store;
    this.#clock = clock;
    this.#settings = settings;
  }

  /** Resolves when the thread pool has finished what it has to do now. */
  get idle(): Promise<unknown> {
    return Promise.all(this.#lanes);
  }

  /** Compresses changed blocks for a scrape in this coding, up to a limit. */
  async asked(coding: Coding): Promise<void> {
    const { changedBlocks } = this.#store;
    const isNew = !this.#askedAt.has(coding);
    this.#askedAt.set(coding, this.#clock.monotonic());
    if (isNew) for (const block of this.#store.blocks()) changedBlocks.add(block);
    let bytes = 0;
    for await (const block of inTurns(changedBlocks, this.#clock)) {
      changedBlocks.delete(block);
      bytes += await this.#compress(block, this.#settings.compressNow);
      if (bytes >= SCRAPE_BYTES) break;
    }
    this.changed();
  }

  /** To be called after every change of the store. */
  changed(): void {
    this.#forget();
    while (this.#lanes.size < LANES && this.#isTooMuch()) {
      // Not in the caller's turn: publishing need not wait for it, and a sequence of changes costs one buffer.
      const lane = turn()
        .then(() => this.#takeSurplus())
        .finally(() => this.#lanes.delete(lane));
      this.#lanes.add(lane);
    }
  }

  /** Compresses a large task's blocks before they are exposed; until then scrapes get the previous ones, compressed. */
  async compressBeforehand(prepared: Prepared): Promise<void> {
    for (const lines of prepared.families) {
      if ('blocks' in lines) for (const block of lines.blocks) await this.#compress(block, this.#settings.compress);
    }
  }

  /** Whether more has changed than may wait for the next scrape. */
  #isTooMuch(): boolean {
    let bytes = 0;
    for (const block of this.#store.changedBlocks) {
      bytes += block.bytes;
      if (bytes > WAITING_BYTES) return true;
    }
    return false;
  }

  /** Makes the buffers of the longest waiting blocks, and compresses them if there is a coding to do it in. */
  async #takeSurplus(): Promise<void> {
    const { changedBlocks, memory } = this.#store;
    for (const block of changedBlocks) {
      if (!this.#isTooMuch()) return;
      changedBlocks.delete(block);
      block.lines(memory);
      await this.#compress(block, this.#settings.compress);
    }
  }

  /** Compresses a block in every coding that it lacks. Resolves with how many bytes were compressed. */
  async #compress(block: Block, compress: Codec['compress' | 'compressNow']): Promise<number> {
    const { memory } = this.#store;
    let bytes = 0;
    for (const coding of this.#askedAt.keys()) {
      if (block.compressed(coding) !== undefined) continue;
      const release = memory.hold();
      const lines = block.lines(memory);
      bytes += lines.length;
      try {
        block.keep(coding, await compress(coding, lines), lines);
        this.#isFailing = false;
      } catch (thrown) {
        this.#failed(thrown);
      } finally {
        release();
      }
    }
    if (bytes > 0) this.#store.recompressed();
    return bytes;
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
