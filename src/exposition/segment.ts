import { type Coding, type Item, joined, type Packed } from './coding.ts';
import { room } from './room.ts';

/** One task's lines of one family, among those of other tasks. */
export class Part {
  /** What its bytes are in: what they were written to, then the buffer of its segment. */
  source: Buffer;
  at: number;
  bytes: number;
  /** Undefined while it is nowhere. */
  segment: Segment | undefined = undefined;

  constructor({ source, at, bytes }: Bytes) {
    this.source = source;
    this.at = at;
    this.bytes = bytes;
  }
}

/** Some bytes of a larger buffer, without a buffer of their own: there are very many of these. */
export interface Bytes {
  readonly source: Buffer;
  readonly at: number;
  readonly bytes: number;
}

/**
 * What becomes one buffer and is packed as one: the parts of several small tasks, or a piece of one large task. A change
 * is only noted; the buffer is made anew when somebody wants it, and one that was given away is never written to.
 */
export class Segment {
  readonly page: Page;
  readonly parts = new Set<Part>();
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
    this.parts.add(part);
    this.#bytes += part.bytes;
    this.#change();
  }

  /** Gives a part that is in other lines. */
  refill(part: Part, { source, at, bytes }: Bytes): void {
    this.#bytes += bytes - part.bytes;
    part.source = source;
    part.at = at;
    part.bytes = bytes;
    this.#change();
  }

  /** Takes a part out. */
  take(part: Part): void {
    part.segment = undefined;
    this.parts.delete(part);
    this.#bytes -= part.bytes;
    this.#change();
  }

  /** Its lines, in a buffer that nobody changes any more. */
  lines(): Buffer {
    if (!this.#stale) return this.#buffer;
    const made = room(this.#bytes);
    let at = 0;
    for (const part of this.parts) {
      part.source.copy(made, at, part.at, part.at + part.bytes);
      part.source = made;
      part.at = at;
      at += part.bytes;
    }
    this.#buffer = made;
    this.#stale = false;
    return made;
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
  readonly #packed = new Map<Coding, Packed>();

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
