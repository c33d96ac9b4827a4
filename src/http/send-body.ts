import type { ServerResponse } from 'node:http';
import type { Clock } from '../runtime/clock.ts';
import { runInTurn } from '../runtime/slices.ts';

/**
 * Writes buffers to a response as fast as it is read, and ends it. It requests the next buffer when the socket has taken the
 * previous one, which may then be overwritten. Each write waits for a turn of the event loop that has room: without this, a
 * reader on this machine would take all buffers in one turn. It resolves when everything is passed on. If the reader
 * disconnects or the response is cut off, it rejects and requests no more buffers.
 */
export async function sendBody(response: ServerResponse, buffers: Iterable<Buffer>, clock: Clock): Promise<void> {
  // The event may have fired while the response was produced.
  if (response.destroyed) throw new Error('the scraper disconnected');
  const ended = new Promise<void>((resolve, reject) => {
    response.once('finish', resolve);
    response.once('close', () => reject(new Error('the scraper disconnected')));
  });
  // This handles the rejection if nothing awaits it any more.
  ended.catch(() => {});
  const remaining = buffers[Symbol.iterator]();
  const writeNext = () => {
    const { value: buffer, done } = remaining.next();
    return done ? undefined : { taken: new Promise((resolve) => response.write(buffer, resolve)) };
  };
  for (;;) {
    const written = await runInTurn(writeNext, clock);
    if (written === undefined) break;
    await Promise.race([written.taken, ended]);
    if (response.destroyed) return ended;
  }
  response.end();
  return ended;
}
