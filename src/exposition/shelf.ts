import type { Memory } from './buffer-memory.ts';
import { Page, Part, Segment } from './segment.ts';
import type { Bytes, Slab } from './slab.ts';

/**
 * A segment of small parts is not filled beyond this. Small enough that one changed part has little packed again, large
 * enough that a scrape is no heap of crumbs.
 */
export const SEGMENT_BYTES = 32 * 1024;

/** A segment that has shrunk below this moves into others, so that what comes and goes leaves no crumbs. */
const CRUMB_BYTES = SEGMENT_BYTES / 4;

/** So many segments make a page: half a megabyte plain, and a tenth of it packed, is worth a write of its own. */
const PAGE_SEGMENTS = 16;

/** One task's lines of one family, before they are shown: some bytes where they are few, else pages cut at line ends. */
export interface Lines {
  readonly family: string;
  readonly samples: number;
  readonly few: Bytes | undefined;
  readonly pages: readonly Page[];
}

/** One task's lines of one family, as they are shown: a part of a segment, or pages of its own. */
export type Chunk = Part | readonly Page[];

/** The chunks of one family: those of small tasks share segments, a large task has pages to itself. */
export class Shelf {
  /** In the order of the exposition. */
  readonly pages = new Set<Page>();
  readonly #changed: Set<Segment>;
  readonly #memory: Memory;
  readonly #slab: Slab;
  readonly #roomy = new Set<Segment>();
  readonly #roomyPages = new Set<Page>();
  #chunks = 0;

  /**
   * `changed` gets each segment that has other lines now, and loses those that leave; `slab` takes lines that move from
   * one segment to another.
   */
  constructor(changed: Set<Segment>, memory: Memory, slab: Slab) {
    this.#changed = changed;
    this.#memory = memory;
    this.#slab = slab;
  }

  /** How many chunks are here. */
  get chunks(): number {
    return this.#chunks;
  }

  /** Shows lines, in the place of a chunk where there is one. */
  put({ few, pages }: Lines, before: Chunk | undefined): Chunk {
    if (few !== undefined && before instanceof Part) {
      this.#refill(before, few);
      return before;
    }
    if (before !== undefined) this.take(before);
    this.#chunks += 1;
    if (few !== undefined) {
      const part = new Part(few);
      this.#place(part);
      return part;
    }
    for (const page of pages) {
      this.pages.add(page);
      for (const segment of page.segments) this.#changed.add(segment);
    }
    return pages;
  }

  /** Takes a chunk out. */
  take(chunk: Chunk): void {
    this.#chunks -= 1;
    if (!(chunk instanceof Part)) {
      for (const page of chunk) {
        this.pages.delete(page);
        for (const segment of page.segments) {
          this.#changed.delete(segment);
          segment.close();
        }
      }
    } else if (chunk.segment !== undefined) {
      const { segment } = chunk;
      segment.take(chunk);
      this.#tidy(segment);
    }
  }

  #refill(part: Part, lines: Bytes): void {
    const { segment } = part;
    if (segment === undefined) return;
    segment.refill(part, lines);
    this.#changed.add(segment);
    if (segment.bytes <= 2 * SEGMENT_BYTES || segment.parts.length === 1) return;
    segment.lift(part, this.#slab);
    this.#place(part);
  }

  #place(part: Part, except?: Segment): void {
    const segment = this.#roomFor(part.bytes, except) ?? this.#newSegment();
    segment.put(part);
    this.#changed.add(segment);
  }

  /** A few are looked at, and no more: that lines are in the best place is worth less than the search. */
  #roomFor(bytes: number, except: Segment | undefined): Segment | undefined {
    let looks = 4;
    for (const segment of this.#roomy) {
      if (segment !== except && segment.bytes + bytes <= SEGMENT_BYTES) return segment;
      // Full enough: it is not looked at again before something is taken out of it.
      if (segment.bytes >= SEGMENT_BYTES / 2) this.#roomy.delete(segment);
      looks -= 1;
      if (looks === 0) return undefined;
    }
    return undefined;
  }

  #newSegment(): Segment {
    let [page] = this.#roomyPages;
    if (page === undefined) {
      page = new Page(this.#memory);
      this.pages.add(page);
      this.#roomyPages.add(page);
    }
    const segment = new Segment(page);
    this.#roomy.add(segment);
    if (page.segments.size >= PAGE_SEGMENTS) this.#roomyPages.delete(page);
    return segment;
  }

  /** After something was taken out of it: a segment with room is known to have it, a crumb is moved, an empty one goes. */
  #tidy(segment: Segment): void {
    if (segment.bytes < SEGMENT_BYTES / 2) this.#roomy.add(segment);
    if (segment.bytes < CRUMB_BYTES) {
      for (const part of [...segment.parts]) {
        if (this.#roomFor(part.bytes, segment) === undefined) break;
        segment.lift(part, this.#slab);
        this.#place(part, segment);
      }
    }
    if (segment.parts.length > 0) {
      this.#changed.add(segment);
      return;
    }
    const { page } = segment;
    this.#roomy.delete(segment);
    this.#changed.delete(segment);
    page.segments.delete(segment);
    page.forget();
    segment.close();
    if (page.segments.size > 0) this.#roomyPages.add(page);
    else {
      this.#roomyPages.delete(page);
      this.pages.delete(page);
    }
  }
}
