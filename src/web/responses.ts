import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip as compress } from 'node:zlib';
import type { ResponseBody } from '../exposition/format.ts';
import { type Clock, callAfter, nextTurn } from '../runtime/clock.ts';

/** How much is written at once, in bytes: so little that also a slow client reads it in time. */
const WRITE_BYTES = 256 * 1024;

/** A client that takes none of it in this time, in milliseconds, is cut off. */
const UNREAD_TIMEOUT_MS = 5_000;

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
  let written = 0;
  for (const part of partsOf(buffers())) {
    // The client may have left before this function was called, so that no event follows.
    if (response.destroyed) break;
    written += part.length;
    const taken = new Promise<void>((resolve) => {
      if (written < length) response.write(part, () => resolve());
      else response.end(part, resolve);
    });
    const stopWaiting = callAfter(clock, UNREAD_TIMEOUT_MS, () => response.destroy());
    await Promise.race([taken, closed]);
    stopWaiting();
    onRead();
    // Others get their turn: a client on this machine would take a whole page in one.
    await nextTurn();
  }
  if (!response.writableEnded) response.end();
}

function* partsOf(buffers: Iterable<Buffer>): Generator<Buffer> {
  for (const buffer of buffers) {
    for (let at = 0; at < buffer.length; at += WRITE_BYTES) yield buffer.subarray(at, at + WRITE_BYTES);
  }
}

const gzip = promisify(compress);

/** A whole page, with its headers. */
export interface Page {
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export async function textBody(text: string, isCompressed: boolean): Promise<ResponseBody> {
  const content = isCompressed ? await gzip(text, { level: 1 }) : Buffer.from(text);
  return { length: content.length, buffers: () => [content] };
}
