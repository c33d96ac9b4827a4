import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip as compress } from 'node:zlib';
import type { ResponseBody } from '../exposition/body.ts';
import { type Clock, callAfter } from '../runtime/clock.ts';
import { nextTurn } from '../runtime/next-turn.ts';

/** A response is cut off if a client does not read {@link WRITE_BYTES} of it in this time, in milliseconds. */
const UNREAD_TIMEOUT_MS = 5_000;

/** How much is written at once, in bytes: little, so that a slow client is not taken for one that does not read. */
const WRITE_BYTES = 64 * 1024;

/** After so many bytes the event loop serves others: a client on this machine would take a whole page in one turn. */
const BYTES_A_TURN = 512 * 1024;

export function sendText(response: ServerResponse, status: number, text: string, headers?: OutgoingHttpHeaders): void {
  response.writeHead(status, {
    ...headers,
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

/**
 * Writes buffers to a response as fast as the client reads them, and ends it. It requests the next buffer when the previous
 * one was taken, which may then be overwritten. It resolves in any case: when everything was passed on, or when the
 * connection is closed, be it before the call. `onRead` is called whenever the client has read some.
 */
export async function sendBody(
  response: ServerResponse,
  buffers: Iterable<Buffer>,
  clock: Clock,
  onRead: () => void,
): Promise<void> {
  const closed = new Promise((resolve) => response.once('close', resolve));
  let bytes = 0;
  for (const buffer of buffers) {
    for (let at = 0; at < buffer.length; at += WRITE_BYTES) {
      // The client may have left before this function was called, so that no event follows.
      if (response.destroyed) return;
      const part = buffer.subarray(at, at + WRITE_BYTES);
      const endTimeout = callAfter(clock, UNREAD_TIMEOUT_MS, () => response.destroy());
      await Promise.race([new Promise((resolve) => response.write(part, resolve)), closed]);
      endTimeout();
      onRead();
      bytes += part.length;
      if (bytes < BYTES_A_TURN) continue;
      bytes = 0;
      await nextTurn();
    }
  }
  response.end();
}

const gzip = promisify(compress);

/** A whole page, with its headers. */
export class Page {
  readonly headers: Readonly<Record<string, string>>;
  readonly #content: Buffer;

  constructor(headers: Readonly<Record<string, string>>, text: string) {
    this.headers = headers;
    this.#content = Buffer.from(text);
  }

  async body(isCompressed: boolean): Promise<ResponseBody> {
    const content = isCompressed ? await gzip(this.#content, { level: 1 }) : this.#content;
    return { length: content.length, buffers: () => [content] };
  }
}
