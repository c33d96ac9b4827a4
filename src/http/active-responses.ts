import type { ServerResponse } from 'node:http';
import type { Clock } from '../runtime/clock.ts';
import type { Connections } from './connections.ts';

/** A response that is not read for this long, in milliseconds, can be cut off at the limit. */
const UNREAD_MS = 2_000;

/**
 * Responses in progress, up to a limit: each holds memory until it is read. At the limit, a response that is not being
 * read is cut off for a new one, so that no client blocks others by not reading.
 */
export class ActiveResponses {
  readonly #max: number;
  readonly #connections: Connections;
  readonly #clock: Clock;
  /** When some of each response was last read; the one that has not been read for the longest time first. */
  readonly #readAt = new Map<ServerResponse, number>();

  constructor(max: number, connections: Connections, clock: Clock) {
    this.#max = max;
    this.#connections = connections;
    this.#clock = clock;
  }

  /** Adds a response until it is closed; false if the limit is reached. */
  add(response: ServerResponse): boolean {
    if (this.#readAt.size >= this.#max && !this.cutOffUnread()) return false;
    this.#readAt.set(response, this.#clock.monotonic());
    response.once('close', () => this.#readAt.delete(response));
    response.on('drain', () => {
      if (this.#readAt.delete(response)) this.#readAt.set(response, this.#clock.monotonic());
    });
    return true;
  }

  /** Closes the connection of the response that has not been read for the longest time; false if all are being read. */
  cutOffUnread(): boolean {
    const latest = this.#clock.monotonic() - UNREAD_MS;
    for (const [response, readAt] of this.#readAt) {
      if (readAt > latest) return false;
      // A response that is still being produced has sent nothing that could be read.
      if (!response.headersSent || response.socket === null) continue;
      this.#readAt.delete(response);
      this.#connections.close(response.socket, 'unread');
      return true;
    }
    return false;
  }
}
