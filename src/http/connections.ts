import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { increment } from '../runtime/maps.ts';

/** Why the server closes connections. */
const REASONS = ['limit', 'refused', 'pipelined', 'unread'] as const;

type Reason = (typeof REASONS)[number];

/** The shortest time between two log lines about the limit, in milliseconds: clients determine how often it is reached. */
const LOGGED_EVERY_MS = 60_000;

/** If no connection is idle, one that is busy for this long is closed, in milliseconds. */
const BUSY_MS = 10_000;

/** Requests of one connection without an answer yet; a client that sends more is disconnected. */
const MAX_AHEAD = 4;

interface Connection {
  /** As it was accepted: with TLS, the socket below. */
  readonly socket: Socket;
  /** The addresses of both ends, which a TLS socket shares with the socket below it. */
  readonly ends: string;
  /** Whether a request on it has passed the guard. */
  isKnown: boolean;
  /** The guard's rules when it was secured. */
  generation: number | undefined;
  /** Requests without an answer yet, and when the first of these arrived, in monotonic milliseconds. */
  requests: number;
  busySince: number;
  /** Resolves when its latest request is answered. */
  answered: Promise<void>;
}

/**
 * The open connections, up to a limit. At the limit a new connection replaces an idle one, so that no client blocks
 * others by holding connections: first those that have not passed the guard, then the one idle for the longest time. If
 * none is idle, the one busy for the longest time is closed, if that is long enough.
 */
export class Connections {
  readonly #most: number;
  readonly #clock: Clock;
  readonly #log: Log;
  /** By their ends; the one idle for the longest time first. */
  readonly #open = new Map<string, Connection>();
  readonly #closed = new Map<Reason, number>(REASONS.map((reason) => [reason, 0]));
  /** Since the connections were fewer than half of the limit. */
  #wasFull = false;
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(most: number, clock: Clock, log: Log) {
    this.#most = most;
    this.#clock = clock;
    this.#log = log;
  }

  get closed(): ReadonlyMap<Reason, number> {
    return this.#closed;
  }

  /** Adds a new connection; false if every other one is busy, so that this one was closed. */
  take(socket: Socket): boolean {
    if (this.#open.size >= this.#most && !this.#makeRoom()) {
      this.close(socket, 'refused');
      return false;
    }
    const ends = endsOf(socket);
    const answered = Promise.resolve();
    this.#open.set(ends, { socket, ends, isKnown: false, generation: undefined, requests: 0, busySince: 0, answered });
    socket.once('close', () => {
      this.#open.delete(ends);
      if (this.#open.size <= this.#most / 2) this.#wasFull = false;
    });
    return true;
  }

  /** The open connection of a socket, or of the TLS socket over it. */
  of(socket: Socket): Connection | undefined {
    return this.#open.get(endsOf(socket));
  }

  /**
   * Resolves when the earlier requests of its connection are answered, however many are sent ahead: each answer takes
   * memory. False if the connection was closed.
   */
  async inTurn(response: ServerResponse): Promise<boolean> {
    const { socket } = response.req;
    const connection = this.of(socket);
    // The request may have been parsed before its client was disconnected.
    if (connection === undefined || socket.destroyed) return false;
    if (connection.requests >= MAX_AHEAD) {
      this.close(socket, 'pipelined');
      return false;
    }
    if (connection.requests === 0) connection.busySince = this.#clock.monotonic();
    connection.requests += 1;
    const before = connection.answered;
    connection.answered = new Promise((resolve) => {
      response.once('close', () => {
        this.#answered(connection);
        resolve();
      });
    });
    await before;
    return !socket.destroyed;
  }

  close(socket: Socket, reason: Reason): void {
    increment(this.#closed, reason);
    socket.destroy();
  }

  cutAll(): void {
    for (const { socket } of this.#open.values()) socket.destroy();
  }

  #answered(connection: Connection): void {
    connection.requests -= 1;
    // Moved to the end: it has been idle for the shortest time.
    if (this.#open.delete(connection.ends)) this.#open.set(connection.ends, connection);
  }

  #makeRoom(): boolean {
    this.#tell();
    const idle = [...this.#open.values()].filter(({ requests }) => requests === 0);
    const connection = idle.find(({ isKnown }) => !isKnown) ?? idle[0] ?? this.#busyLongest();
    if (connection === undefined) return false;
    this.#open.delete(connection.ends);
    this.close(connection.socket, 'limit');
    return true;
  }

  #busyLongest(): Connection | undefined {
    const latest = this.#clock.monotonic() - BUSY_MS;
    const busy = [...this.#open.values()].filter(({ busySince }) => busySince <= latest);
    return busy.toSorted((one, other) => one.busySince - other.busySince)[0];
  }

  #tell(): void {
    const now = this.#clock.monotonic();
    if (!this.#wasFull && now - this.#loggedAt >= LOGGED_EVERY_MS) {
      this.#loggedAt = now;
      this.#log.warn({ limit: this.#most }, 'connection limit reached (MAX_CONNECTIONS)');
    }
    this.#wasFull = true;
  }
}

function endsOf({ localAddress, remoteAddress, remotePort }: Socket): string {
  return `${localAddress} ${remoteAddress} ${remotePort}`;
}
