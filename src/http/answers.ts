import type { ServerResponse } from 'node:http';
import type { Clock } from '../runtime/clock.ts';
import type { Connections } from './connections.ts';

/** An answer that is not read for this long, in milliseconds, can be cut off at the limit. */
const UNREAD_MS = 2_000;

/**
 * Answers in progress, up to a limit: each holds memory until it is read. At the limit, an answer that is not being
 * read is cut off for a new one, so that no client blocks others by not reading.
 */
export class Answers {
  readonly #most: number;
  readonly #connections: Connections;
  readonly #clock: Clock;
  /** When some of each was last read; the one not read for the longest time first. */
  readonly #underWay = new Map<ServerResponse, number>();

  constructor(most: number, connections: Connections, clock: Clock) {
    this.#most = most;
    this.#connections = connections;
    this.#clock = clock;
  }

  /** Adds an answer until it is closed; false if the limit is reached. */
  begin(response: ServerResponse): boolean {
    if (this.#underWay.size >= this.#most && !this.#makeRoom()) return false;
    this.#underWay.set(response, this.#clock.monotonic());
    response.once('close', () => this.#underWay.delete(response));
    response.on('drain', () => {
      if (this.#underWay.delete(response)) this.#underWay.set(response, this.#clock.monotonic());
    });
    return true;
  }

  #makeRoom(): boolean {
    const latest = this.#clock.monotonic() - UNREAD_MS;
    // An answer that is still being produced has sent nothing to read.
    const unread = [...this.#underWay].find(([response, readAt]) => response.headersSent && readAt <= latest);
    if (unread === undefined) return false;
    const [response] = unread;
    this.#underWay.delete(response);
    if (response.socket !== null) this.#connections.close(response.socket, 'unread');
    return true;
  }
}
