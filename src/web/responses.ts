import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip as compress } from 'node:zlib';
import type { ResponseBody } from '../exposition/body.ts';
import { type Clock, callAfter } from '../runtime/clock.ts';
import { nextTurn } from '../runtime/next-turn.ts';

/** A response is cut off if a client does not read {@link WRITE_BYTES} of it in this time, in milliseconds. */
const UNREAD_TIMEOUT_MS = 10_000;

/** How much is written at once, in bytes: so little that also a slow client reads it in time. */
const WRITE_BYTES = 256 * 1024;

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
 * Writes a body to a response as fast as the client reads it, and ends the response with the last part, so that a client
 * that has read it is not ahead of us. It resolves in any case: when everything was passed on, or when the connection is
 * closed, be it before the call. `onRead` is called whenever the client has read some.
 */
export async function sendBody(
  response: ServerResponse,
  { length, buffers }: ResponseBody,
  clock: Clock,
  onRead: () => void,
): Promise<void> {
  const closed = new Promise((resolve) => response.once('close', resolve));
  let left = length;
  let bytesInTurn = 0;
  for (const buffer of buffers()) {
    for (let at = 0; at < buffer.length; at += WRITE_BYTES) {
      if (bytesInTurn >= BYTES_A_TURN) {
        bytesInTurn = 0;
        await nextTurn();
      }
      // The client may have left before this function was called, so that no event follows.
      if (response.destroyed) return;
      const part = buffer.subarray(at, at + WRITE_BYTES);
      left -= part.length;
      bytesInTurn += part.length;
      const endTimeout = callAfter(clock, UNREAD_TIMEOUT_MS, () => response.destroy());
      if (left > 0) await Promise.race([new Promise((resolve) => response.write(part, resolve)), closed]);
      else await Promise.race([new Promise<void>((resolve) => response.end(part, resolve)), closed]);
      endTimeout();
      onRead();
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
