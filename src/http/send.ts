import type { ServerResponse } from 'node:http';

/** So many bytes are handed to the socket at a time: enough that it is never idle, and no long turn of the event loop. */
const BATCH_BYTES = 512 * 1024;

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
  const source = buffers[Symbol.iterator]();
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

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => void response.once('drain', resolve));
}
