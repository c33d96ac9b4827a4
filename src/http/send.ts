import type { ServerResponse } from 'node:http';

/** How many bytes are passed to the socket at a time: enough to keep it busy, and a short turn of the event loop. */
const BATCH_BYTES = 512 * 1024;

/**
 * Writes buffers to an answer as fast as it is read, and ends it. Resolves when everything is passed on; rejects if the
 * reader disconnects or the answer is cut off. Reads no further buffer after either.
 */
export async function send(response: ServerResponse, buffers: Iterable<Buffer>): Promise<void> {
  // The event may have fired while the answer was produced.
  if (response.destroyed) throw new Error('the scraper disconnected');
  const ended = new Promise<void>((resolve, reject) => {
    response.once('finish', resolve);
    response.once('close', () => reject(new Error('the scraper disconnected')));
  });
  // Also if no one awaits it any more.
  ended.catch(() => {});
  const source = buffers[Symbol.iterator]();
  while (!response.destroyed) {
    let batch = 0;
    let last = false;
    // Corked, so that a batch is one system call.
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
