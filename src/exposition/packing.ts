import type { Clock } from '../runtime/clock.ts';
import { asError } from '../runtime/errors.ts';
import { type Coding, type Packed, pack } from './compression.ts';
import type { Prepared } from './line-writer.ts';
import type { Segment } from './segment.ts';
import type { ChunkStore } from './store.ts';

/** Nobody has asked for a coding for so long, in milliseconds: nothing is packed as that any more. */
const FORGOTTEN_MS = 600_000;

/** Compressions on the thread pool at once: one works while the other's result is put away. */
const LANES = 2;

/** Segments joined in a row before the event loop gets a turn, where nothing is packed: some two milliseconds. */
const JOINS_A_TURN = 64;

/** What packs, and who hears of it when that begins to fail. */
export interface Packer {
  pack(coding: Coding, lines: Buffer): Promise<Packed>;
  failed(error: Error): void;
}

/** Packs with zlib; nobody hears when it fails. */
export const quietPacker: Packer = { pack, failed: () => {} };

/**
 * Packs what has changed, once a change and off the event loop, and only as what scrapers ask for. A scrape never waits
 * for it: what is not packed yet goes out as it is. Whatever is published while its segment is being packed puts it in
 * line again. What cannot be packed, for want of memory say, goes out as it is until it changes again.
 */
export class Packing {
  readonly #store: ChunkStore;
  readonly #clock: Clock;
  readonly #packer: Packer;
  readonly #askedAt = new Map<Coding, number>();
  #lanes = 0;
  #isFailing = false;
  #ended: Promise<void> = Promise.resolve();

  constructor(store: ChunkStore, clock: Clock, packer: Packer) {
    this.#store = store;
    this.#clock = clock;
    this.#packer = packer;
  }

  /** Resolves when nothing is left to be packed, as far as is known now. */
  get idle(): Promise<void> {
    return this.#ended;
  }

  /** A scraper has asked for a coding. Where none had for long, everything is to be packed. */
  asked(coding: Coding): void {
    const isNew = !this.#askedAt.has(coding);
    this.#askedAt.set(coding, this.#clock.monotonic());
    if (isNew) this.#store.changeAll();
    this.changed();
  }

  /** Something was published or withdrawn. */
  changed(): void {
    this.#forget();
    while (this.#lanes < LANES) {
      this.#lanes += 1;
      // Not within the caller's turn: a row of publications is packed after the last one.
      const lane = turn().then(() => this.#work());
      const before = this.#ended;
      // Resolves with nothing: with what came before it, it would keep all of that alive for good.
      this.#ended = lane.then(() => before);
    }
  }

  /** Packs a large task's pages before they are shown: a scrape meanwhile has the last ones, packed and whole. */
  async packBeforehand(prepared: Prepared): Promise<void> {
    for (const { pages } of prepared.families) {
      for (const page of pages) for (const segment of page.segments) await this.#pack(segment);
    }
  }

  async #work(): Promise<void> {
    let joins = 0;
    try {
      for (let segment = this.#store.takeChanged(); segment !== undefined; segment = this.#store.takeChanged()) {
        // Also where nothing is packed: what was written to a slab is not to keep it alive.
        segment.lines();
        joins += 1;
        if (this.#askedAt.size > 0) await this.#pack(segment);
        else if (joins % JOINS_A_TURN === 0) await turn();
      }
    } finally {
      this.#lanes -= 1;
    }
  }

  async #pack(segment: Segment): Promise<void> {
    for (const coding of this.#askedAt.keys()) {
      if (segment.packed(coding) === undefined) {
        const release = this.#store.hold();
        try {
          const lines = segment.lines();
          segment.keep(coding, await this.#packer.pack(coding, lines), lines);
          this.#isFailing = false;
        } catch (thrown) {
          if (!this.#isFailing) this.#packer.failed(asError(thrown));
          this.#isFailing = true;
        } finally {
          release();
        }
      }
      segment.page.join(coding);
    }
    this.#store.repacked();
  }

  #forget(): void {
    const before = this.#clock.monotonic() - FORGOTTEN_MS;
    for (const [coding, at] of this.#askedAt) {
      if (at >= before) continue;
      this.#askedAt.delete(coding);
      for (const segment of this.#store.segments()) segment.unpack(coding);
    }
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
