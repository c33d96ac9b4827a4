import type { Memory } from './buffer-memory.ts';
import { type Coding, type Item, joined, type Packed } from './compression.ts';
import { room } from './room.ts';
import type { Bytes, Slab, SlabPage } from './slab.ts';

/** One task's lines of one family, among those of other tasks. */
export class Part {
  /** Where its bytes are; undefined once its segment has joined them, which is where they are then. */
  slab: SlabPage | undefined;
  at: number;
  bytes: number;
  /** Undefined while it is nowhere. */
  segment: Segment | undefined = undefined;
  /** Which of its segment's parts it is. */
  place = 0;

  constructor({ slab, at, bytes }: Bytes) {
    this.slab = slab;
    this.at = at;
    this.bytes = bytes;
  }
}

/**
 * What becomes one buffer and is packed as one: the parts of several small tasks, or a piece of one large task. A change
 * is only noted; the buffer is made anew when somebody wants it, and one that was given away is never written to.
 */
export class Segment {
  readonly page: Page;
  readonly parts: Part[] = [];
  #bytes: number;
  #buffer: Buffer;
  #stale = false;
  readonly #packed = new Map<Coding, Packed>();

  /** `lines`: a piece of a large task; empty for a segment of parts. */
  constructor(page: Page, lines: Buffer = NOTHING) {
    this.page = page;
    this.#buffer = lines;
    this.#bytes = lines.length;
    page.segments.add(this);
    page.forget();
  }

  /** How many bytes its lines are. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Puts a part in. */
  put(part: Part): void {
    part.segment = this;
    part.place = this.parts.length;
    this.parts.push(part);
    this.#bytes += part.bytes;
    this.#change();
  }

  /** Gives a part that is in other lines. */
  refill(part: Part, { slab, at, bytes }: Bytes): void {
    part.slab?.leave();
    this.#bytes += bytes - part.bytes;
    part.slab = slab;
    part.at = at;
    part.bytes = bytes;
    this.#change();
  }

  /** Takes a part out whose lines are needed no more. */
  take(part: Part): void {
    part.slab?.leave();
    part.slab = undefined;
    this.#remove(part);
  }

  /** Takes a part out that goes elsewhere: its lines are in the slab then. */
  lift(part: Part, slab: Slab): void {
    if (part.slab === undefined) {
      const copy = slab.copy(this.#buffer, part.at, part.bytes);
      part.slab = copy.slab;
      part.at = copy.at;
    }
    this.#remove(part);
  }

  /** Its lines, in a buffer that nobody changes; see {@link Memory} for how long it may be read. */
  lines(): Buffer {
    if (!this.#stale) return this.#buffer;
    const before = this.#buffer;
    const made = room(this.#bytes);
    let at = 0;
    for (const part of this.parts) {
      (part.slab?.buffer ?? before).copy(made, at, part.at, part.at + part.bytes);
      part.slab?.leave();
      part.slab = undefined;
      part.at = at;
      at += part.bytes;
    }
    this.#buffer = made;
    this.#stale = false;
    this.page.memory.leave(before);
    return made;
  }

  /** It is shown no more. */
  close(): void {
    this.page.memory.leave(this.#buffer);
  }

  /** Its lines packed, where they have been since they changed last. */
  packed(coding: Coding): Packed | undefined {
    return this.#packed.get(coding);
  }

  /** Keeps what these lines are packed, unless they have changed meanwhile. */
  keep(coding: Coding, packed: Packed, lines: Buffer): void {
    if (!this.#stale && lines === this.#buffer) this.#packed.set(coding, packed);
  }

  /** Lets go of what is packed. */
  unpack(coding: Coding): void {
    this.#packed.delete(coding);
    this.page.forget();
  }

  /** The last part takes the place of the one removed. */
  #remove(part: Part): void {
    const last = this.parts.pop();
    if (last !== undefined && last !== part) {
      this.parts[part.place] = last;
      last.place = part.place;
    }
    part.segment = undefined;
    this.#bytes -= part.bytes;
    this.#change();
  }

  #change(): void {
    // Changed already, and nothing was made of it since.
    if (this.#stale) return;
    this.#stale = true;
    this.#packed.clear();
    this.page.forget();
  }
}

const NOTHING = Buffer.alloc(0);

/** Neighbouring segments: what of them is packed is kept in one buffer too, for small writes cost more than their bytes. */
export class Page {
  readonly segments = new Set<Segment>();
  /** Where what its segments were in is given back to. */
  readonly memory: Memory;
  readonly #packed = new Map<Coding, Packed>();

  constructor(memory: Memory) {
    this.memory = memory;
  }

  /** What it is in a coding: one piece where all of it is packed and joined, else segment by segment. */
  *items(coding: Coding): Generator<Item> {
    const whole = this.#packed.get(coding);
    if (whole !== undefined) yield whole;
    else for (const segment of this.segments) yield segment.packed(coding) ?? segment.lines();
  }

  /** Joins what its segments are packed, once all of them are. */
  join(coding: Coding): void {
    if (this.#packed.has(coding)) return;
    const parts: Packed[] = [];
    for (const segment of this.segments) {
      const packed = segment.packed(coding);
      if (packed === undefined) return;
      parts.push(packed);
    }
    const [only] = parts;
    if (only === undefined) return;
    const whole = parts.length === 1 ? only : joined(parts);
    this.#packed.set(coding, whole);
    // Held once: each segment's bytes are those in the whole from now on.
    let at = 0;
    for (const segment of this.segments) {
      const { bytes, ...rest } = segment.packed(coding) ?? only;
      segment.keep(coding, { ...rest, bytes: whole.bytes.subarray(at, at + bytes.length) }, segment.lines());
      at += bytes.length;
    }
  }

  /** A segment has changed. */
  forget(): void {
    this.#packed.clear();
  }
}
