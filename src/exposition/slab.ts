import { room } from './room.ts';
import type { Bytes } from './segment.ts';

/** Many small tasks' lines share one buffer of this size until their segments have joined them. */
const SLAB_BYTES = 64 * 1024;

/** Where small texts become bytes: a buffer for each would cost more than its bytes. */
export class Slab {
  #buffer: Buffer | undefined;
  #used = 0;

  /** The text as bytes; `bytes` is how many it takes. */
  write(text: string, bytes: number): Bytes {
    if (this.#buffer === undefined || this.#used + bytes > this.#buffer.length) {
      this.#buffer = room(Math.max(SLAB_BYTES, bytes));
      this.#used = 0;
    }
    const at = this.#used;
    this.#used += bytes;
    writeText(this.#buffer, text, at, bytes);
    return { source: this.#buffer, at, bytes };
  }
}

/** Writes a text that takes so many bytes: where each of its characters is one of them, copied and not encoded. */
export function writeText(to: Buffer, text: string, at: number, bytes: number): void {
  to.write(text, at, bytes === text.length ? 'latin1' : 'utf8');
}
