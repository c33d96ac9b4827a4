import type { ResponseBody } from '../exposition/body.ts';
import { type CompressedPart, deflate, gzipBody } from '../exposition/gzip.ts';

const EMPTY = Buffer.alloc(0);

/** A whole page that is built once and sent to every client. It is compressed when the first client accepts gzip. */
export class CachedDocument {
  readonly headers: Readonly<Record<string, string>>;
  readonly #buffers: readonly Buffer[];
  #deflated: Promise<CompressedPart> | undefined;

  constructor(headers: Readonly<Record<string, string>>, buffers: readonly Buffer[]) {
    this.headers = headers;
    this.#buffers = buffers;
  }

  async body(gzip: boolean): Promise<ResponseBody> {
    if (!gzip) {
      return { length: this.#buffers.reduce((sum, { length }) => sum + length, 0), buffers: () => this.#buffers };
    }
    this.#deflated ??= deflate(this.#buffers);
    return gzipBody(await this.#deflated, EMPTY);
  }
}
