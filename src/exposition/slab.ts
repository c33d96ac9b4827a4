import { room, vacate } from './room.ts';

/** Many small tasks' lines share one page of this size until their segments have joined them. */
const PAGE_BYTES = 64 * 1024;

/** Texts of so many bytes become bytes at once: little of a page's end is left empty. */
const BATCH_BYTES = PAGE_BYTES / 8;

/** A page of a slab: given back when the last of those whose lines are in it has left. */
export class SlabPage {
  readonly buffer: Buffer;
  #users = 0;
  #isFull = false;

  constructor(bytes: number) {
    this.buffer = room(bytes);
  }

  /** One more has lines here. */
  enter(): void {
    this.#users += 1;
  }

  /** One who had lines here has them elsewhere, or needs them no more. */
  leave(): void {
    this.#users -= 1;
    this.#tidy();
  }

  /** Nobody will enter any more. */
  fill(): void {
    this.#isFull = true;
    this.#tidy();
  }

  #tidy(): void {
    if (this.#isFull && this.#users === 0) vacate(this.buffer);
  }
}

/** Some bytes of a slab's page, without a buffer of their own: there are very many of these. */
export interface Bytes {
  readonly slab: SlabPage;
  readonly at: number;
  readonly bytes: number;
}

/** A text, and how many bytes it takes. */
export interface Text {
  readonly text: string;
  readonly bytes: number;
}

/** Where small texts become bytes: a buffer for each would cost more than its bytes. */
export class Slab {
  #page: SlabPage | undefined;
  #used = 0;

  /** Texts as bytes: one encoding of many costs least. Whoever gets one of them has entered its page. */
  write(texts: readonly Text[]): Bytes[] {
    const written: Bytes[] = [];
    let batch: Text[] = [];
    let size = 0;
    for (const text of texts) {
      if (size > 0 && size + text.bytes > BATCH_BYTES) {
        this.#encode(batch, size, written);
        batch = [];
        size = 0;
      }
      batch.push(text);
      size += text.bytes;
    }
    if (batch.length > 0) this.#encode(batch, size, written);
    return written;
  }

  /** Bytes that are elsewhere now. Whoever gets them has entered their page. */
  copy(from: Buffer, start: number, bytes: number): Bytes {
    const slab = this.#pageFor(bytes);
    const at = this.#used;
    this.#used += bytes;
    from.copy(slab.buffer, at, start, start + bytes);
    slab.enter();
    return { slab, at, bytes };
  }

  #encode(batch: readonly Text[], size: number, written: Bytes[]): void {
    const slab = this.#pageFor(size);
    let all = '';
    for (const { text } of batch) all += text;
    writeText(slab.buffer, all, this.#used, size);
    for (const { bytes } of batch) {
      slab.enter();
      written.push({ slab, at: this.#used, bytes });
      this.#used += bytes;
    }
  }

  #pageFor(bytes: number): SlabPage {
    if (this.#page === undefined || this.#used + bytes > this.#page.buffer.length) {
      this.#page?.fill();
      this.#page = new SlabPage(Math.max(PAGE_BYTES, bytes));
      this.#used = 0;
    }
    return this.#page;
  }
}

/** Writes a text that takes so many bytes: where each of its characters is one of them, copied and not encoded. */
export function writeText(to: Buffer, text: string, at: number, bytes: number): void {
  to.write(text, at, bytes === text.length ? 'latin1' : 'utf8');
}
