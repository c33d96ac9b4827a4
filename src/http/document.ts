import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Body, bodyOf } from '../exposition/body.ts';
import { type Compressed, codec } from '../exposition/compression.ts';
import type { Log } from '../runtime/log.ts';
import { acceptsGzip } from './negotiate.ts';
import { send } from './send.ts';

/** A whole page, made once and sent to whoever asks; it is compressed when a reader first asks for that. */
export class Document {
  readonly headers: Readonly<Record<string, string>>;
  readonly #buffers: readonly Buffer[];
  #compressed: Promise<readonly Compressed[]> | undefined;

  constructor(headers: Readonly<Record<string, string>>, buffers: readonly Buffer[]) {
    this.headers = headers;
    this.#buffers = buffers;
  }

  /** What goes over the wire. */
  async body(gzip: boolean): Promise<Body> {
    if (!gzip) return bodyOf(this.#buffers, undefined);
    this.#compressed ??= Promise.all(this.#buffers.map((buffer) => codec.compress('gzip', buffer)));
    return bodyOf(await this.#compressed, 'gzip');
  }
}

/** Answers with a document, as fast as it is read. */
export async function sendDocument(
  request: IncomingMessage,
  response: ServerResponse,
  document: Document,
  log: Log,
): Promise<void> {
  const gzip = acceptsGzip(request.headers['accept-encoding']);
  const body = await document.body(gzip);
  // What the operator has set for every answer stands.
  const own = Object.entries(document.headers).filter(([name]) => !response.hasHeader(name));
  response.writeHead(200, {
    ...Object.fromEntries(own),
    'content-length': body.length,
    vary: 'Accept-Encoding',
    'referrer-policy': 'no-referrer',
    ...(gzip && { 'content-encoding': 'gzip' }),
  });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  try {
    await send(response, body.buffers());
  } catch (err) {
    log.debug({ err, path: request.url }, 'a page was not read to its end');
  }
}
