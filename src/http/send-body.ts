import type { ServerResponse } from 'node:http';
import { setImmediate as nextEventLoopTurn } from 'node:timers/promises';

/**
 * Writes buffers to a response as fast as it is read, and ends it. Takes the next one when the socket has taken the one
 * before, which may then be overwritten. Resolves when everything is passed on; rejects if the reader disconnects or the
 * response is cut off. Reads no further buffer after either.
 */
export async function sendBody(response: ServerResponse, buffers: Iterable<Buffer>): Promise<void> {
  // The event may have fired while the response was produced.
  if (response.destroyed) throw new Error('the scraper disconnected');
  const ended = new Promise<void>((resolve, reject) => {
    response.once('finish', resolve);
    response.once('close', () => reject(new Error('the scraper disconnected')));
  });
  // Also if no one awaits it any more.
  ended.catch(() => {});
  for (const buffer of buffers) {
    await Promise.race([new Promise((taken) => response.write(buffer, taken)), ended]);
    // A reader on this machine takes every buffer at once: without this all of them would be one turn.
    await nextEventLoopTurn();
    if (response.destroyed) return ended;
  }
  response.end();
  return ended;
}
