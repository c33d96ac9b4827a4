import type { ServerResponse } from 'node:http';
import { setImmediate as nextEventLoopTurn } from 'node:timers/promises';

/**
 * Writes buffers to a response as fast as it is read, and ends it. It requests the next buffer when the socket has taken the
 * previous one, which may then be overwritten. It resolves when everything is passed on. If the reader disconnects or the
 * response is cut off, it rejects and requests no more buffers.
 */
export async function sendBody(response: ServerResponse, buffers: Iterable<Buffer>): Promise<void> {
  // The event may have fired while the response was produced.
  if (response.destroyed) throw new Error('the scraper disconnected');
  const ended = new Promise<void>((resolve, reject) => {
    response.once('finish', resolve);
    response.once('close', () => reject(new Error('the scraper disconnected')));
  });
  // This handles the rejection if nothing awaits it any more.
  ended.catch(() => {});
  for (const buffer of buffers) {
    await Promise.race([new Promise((taken) => response.write(buffer, taken)), ended]);
    // A reader on this machine takes every buffer at once: without this all buffers would be sent in one event-loop turn.
    await nextEventLoopTurn();
    if (response.destroyed) return ended;
  }
  response.end();
  return ended;
}
