import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';

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
  let batch = 0;
  // Corked, so that a batch is one system call.
  response.cork();
  for (const buffer of buffers) {
    response.write(buffer);
    batch += buffer.length;
    if (batch < BATCH_BYTES) continue;
    response.uncork();
    if (response.writableNeedDrain) await Promise.race([once(response, 'drain'), ended]);
    // A reader on this machine takes every batch at once: without this all of them would be one turn.
    await nextTurn();
    if (response.destroyed) return ended;
    batch = 0;
    response.cork();
  }
  response.uncork();
  response.end();
  return ended;
}
