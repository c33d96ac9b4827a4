import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Clock, callAfter } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { increment } from '../runtime/maps.ts';

/** Why the server closes connections. */
const REASONS = ['limit', 'refused', 'timeout', 'unread'] as const;

export type CloseReason = (typeof REASONS)[number];

/** The time for a TLS handshake and the headers of the request together, in milliseconds. */
const REQUEST_TIMEOUT_MS = 10_000;

/** The shortest time between two log lines about the limit, in milliseconds: clients determine how often it is reached. */
const LOG_INTERVAL_MS = 60_000;

/**
 * The open connections, up to a limit. Each carries one request. At the limit a new connection replaces the oldest one
 * without a request, so that no client blocks others by keeping connections open.
 */
export class Connections {
  readonly #max: number;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #open = new Set<Socket>();
  /** The connections without a request, the oldest first, each with a function that ends its time limit. */
  readonly #waiting = new Map<Socket, () => void>();
  readonly #closed = new Map<CloseReason, number>(REASONS.map((reason) => [reason, 0]));
  /** True from the limit until half of the connections are closed, so that one flood is logged once. */
  #wasFull = false;
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(max: number, clock: Clock, log: Log) {
    this.#max = max;
    this.#clock = clock;
    this.#log = log;
  }

  get closed(): ReadonlyMap<CloseReason, number> {
    return this.#closed;
  }

  /**
   * Adds a connection as it was accepted. If every connection has a request in progress, `cutOffUnread` has to make room;
   * if it returns false, the new connection is closed and `add` returns false.
   */
  add(socket: Socket, cutOffUnread: () => boolean): boolean {
    if (this.#open.size >= this.#max) {
      this.#logLimit();
      if (!this.#closeOldestWaiting() && !cutOffUnread()) {
        this.close(socket, 'refused');
        return false;
      }
    }
    this.#open.add(socket);
    const endTimeout = callAfter(this.#clock, REQUEST_TIMEOUT_MS, () => this.close(socket, 'timeout'));
    this.#waiting.set(socket, endTimeout);
    socket.once('close', () => {
      this.markRequested(socket);
      this.#open.delete(socket);
      if (this.#open.size <= this.#max / 2) this.#wasFull = false;
    });
    return true;
  }

  /** The request of a connection has arrived, so its time limit ends. */
  markRequested(socket: Socket): void {
    this.#waiting.get(socket)?.();
    this.#waiting.delete(socket);
  }

  close(connection: Duplex, reason: CloseReason): void {
    increment(this.#closed, reason);
    connection.destroy();
  }

  /** Closes the connections without a request: they have been accepted by rules that are no longer in effect. */
  destroyWaiting(): void {
    for (const socket of this.#waiting.keys()) socket.destroy();
  }

  destroyAll(): void {
    for (const socket of this.#open) socket.destroy();
  }

  #closeOldestWaiting(): boolean {
    const [oldest] = this.#waiting.keys();
    if (oldest === undefined) return false;
    this.markRequested(oldest);
    this.#open.delete(oldest);
    this.close(oldest, 'limit');
    return true;
  }

  #logLimit(): void {
    const now = this.#clock.monotonic();
    if (!this.#wasFull && now - this.#loggedAt >= LOG_INTERVAL_MS) {
      this.#loggedAt = now;
      this.#log.warn(
        { limit: this.#max },
        'The limit of connections is reached (MAX_CONNECTIONS): new connections replace those without a request.',
      );
    }
    this.#wasFull = true;
  }
}
