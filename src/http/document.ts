import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Body, bodyOf } from '../exposition/body.ts';
import { type Compressed, codec } from '../exposition/compression.ts';
import type { Log } from '../runtime/log.ts';
import { acceptsGzip } from './negotiate.ts';
import { send } from './send.ts';

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

/** Answers with a document, as fast as it is read. */
export async function sendDocument(
  request: IncomingMessage,
  response: ServerResponse,
  document: Document,
  log: Log,
): Promise<void> {
  const gzip = acceptsGzip(request.headers['accept-encoding']);
  const body = await document.body(gzip);
  // Headers that the operator has set for every answer are kept.
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
    log.debug({ err, path: request.url }, 'page not read to its end');
  }
}
