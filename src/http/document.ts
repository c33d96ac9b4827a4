import { type Body, bodyOf } from '../exposition/body.ts';
import { type Compressed, codec } from '../exposition/compression.ts';

/** A whole page, built once and sent to every client; compressed when a client first accepts that. */
export class Document {
  readonly headers: Readonly<Record<string, string>>;
  readonly #buffers: readonly Buffer[];
  #compressed: Promise<readonly Compressed[]> | undefined;

  constructor(headers: Readonly<Record<string, string>>, buffers: readonly Buffer[]) {
    this.headers = headers;
    this.#buffers = buffers;
  }

  async body(gzip: boolean): Promise<Body> {
    if (!gzip) return bodyOf(this.#buffers, undefined);
    this.#compressed ??= Promise.all(this.#buffers.map((buffer) => codec.compress('gzip', buffer)));
    return bodyOf(await this.#compressed, 'gzip');
  }
}
