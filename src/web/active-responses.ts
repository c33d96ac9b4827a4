import type { ServerResponse } from 'node:http';
import type { Clock } from '../runtime/clock.ts';
import type { Connections } from './connections.ts';

/** A response of which nothing is read for this long, in milliseconds, gives its place to another one. */
const GIVES_WAY_MS = 1_000;

/**
 * Long responses in progress, up to a limit: each holds memory until it is read. At the limit, the response that has not
 * been read for the longest time gives its place to a new one, so that no client blocks others by not reading.
 */
export class ActiveResponses {
  readonly #max: number;
  readonly #connections: Connections;
  readonly #clock: Clock;
  /** When some of each response was last read, in monotonic milliseconds; the longest unread one first. */
  readonly #readAt = new Map<ServerResponse, number>();

  constructor(max: number, connections: Connections, clock: Clock) {
    this.#max = max;
    this.#connections = connections;
    this.#clock = clock;
  }

  /** Takes a place until `send` settles; resolves with false if there is none. `send` gets a function to call when some was read. */
  async run(response: ServerResponse, send: (onRead: () => void) => Promise<void>): Promise<boolean> {
    if (this.#readAt.size >= this.#max && !this.#giveWay()) return false;
    this.#readAt.set(response, this.#clock.monotonic());
    try {
      await send(() => {
        if (this.#readAt.delete(response)) this.#readAt.set(response, this.#clock.monotonic());
      });
    } finally {
      this.#readAt.delete(response);
    }
    return true;
  }

  /** Closes the connection of the longest unread response; returns false if all are being read. */
  #giveWay(): boolean {
    const latest = this.#clock.monotonic() - GIVES_WAY_MS;
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
