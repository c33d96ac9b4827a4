import type { ServerResponse } from 'node:http';

/** So many bytes are handed to the socket at a time: enough that it is never idle, and no long turn of the event loop. */
const BATCH_BYTES = 512 * 1024;

/** Buffers up to this size are joined: a write of each would cost more than copying it. */
const SMALL_BYTES = 16 * 1024;

/** Joined buffers grow to about this size. */
const JOINED_BYTES = 64 * 1024;

/**
 * Writes buffers to an answer, as fast as it is read, and ends it. Resolves when all is handed over; rejects when the
 * reader goes away or the answer is cut off. After either no buffer is read any more.
 */
export async function send(response: ServerResponse, buffers: Iterable<Buffer>): Promise<void> {
  // Who goes away while the answer is made is not heard of any more.
  if (response.destroyed) throw new Error('the scraper went away');
  const ended = new Promise<void>((resolve, reject) => {
    response.once('finish', resolve);
    response.once('close', () => reject(new Error('the scraper went away')));
  });
  // Also where nobody awaits it any more.
  ended.catch(() => {});
  const source = pieces(buffers)[Symbol.iterator]();
  while (!response.destroyed) {
    let batch = 0;
    let last = false;
    // Corked, so that a batch is one call of the system.
    response.cork();
    while (batch < BATCH_BYTES && !last) {
      const { value, done } = source.next();
      if (done) last = true;
      else {
        batch += value.length;
        response.write(value);
      }
    }
    response.uncork();
    if (last) {
      response.end();
      break;
    }
    if (response.writableNeedDrain) await Promise.race([drained(response), ended]);
  }
  return ended;
}

/** Joins small buffers; larger ones go as they are. */
export function* pieces(buffers: Iterable<Buffer>): Generator<Buffer> {
  let waiting: Buffer[] = [];
  let size = 0;
  for (const buffer of buffers) {
    if (buffer.length <= SMALL_BYTES) {
      waiting.push(buffer);
      size += buffer.length;
      if (size < JOINED_BYTES) continue;
    }
    if (size > 0) yield joinedOf(waiting, size);
    waiting = [];
    size = 0;
    if (buffer.length > SMALL_BYTES) yield buffer;
  }
  if (size > 0) yield joinedOf(waiting, size);
}

function joinedOf(waiting: readonly Buffer[], size: number): Buffer {
  const [only] = waiting;
  return only !== undefined && waiting.length === 1 ? only : Buffer.concat(waiting, size);
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => void response.once('drain', resolve));
}
