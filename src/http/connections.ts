import type { Socket } from 'node:net';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';

/** Why the server closed a connection. */
export type ClosedFor = (typeof REASONS)[number];

const REASONS = ['limit', 'refused', 'pipelined', 'unread'] as const;

/**
 * The shortest time between two log lines about the limit, in milliseconds: clients determine how often it is reached.
 */
const LOGGED_EVERY_MS = 60_000;

interface Connection {
  readonly socket: Socket;
  /** Whether a request on it has passed the guard. */
  isKnown: boolean;
  requests: number;
  /** When the first of these arrived, in monotonic milliseconds. */
  busySince: number;
}

/** If no connection is idle, one that is busy for this long is closed, in milliseconds. */
const BUSY_MS = 10_000;

/**
 * The open connections, up to a limit. At the limit a new connection replaces an idle one, so that no client blocks
 * others by holding connections: first those that have not passed the guard, then the one idle for the longest time. If
 * none is idle, the one busy for the longest time is closed, if that is long enough.
 */
export class Connections {
  readonly #most: number;
  readonly #clock: Clock;
  readonly #log: Log;
  /**
   * By the addresses of both ends, which a TLS socket shares with the socket below it; the one idle for the longest
   * time first.
   */
  readonly #open = new Map<string, Connection>();
  readonly #closed = new Map<ClosedFor, number>(REASONS.map((reason) => [reason, 0]));
  /** Since the connections were fewer than half of the limit. */
  #wasFull = false;
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(most: number, clock: Clock, log: Log) {
    this.#most = most;
    this.#clock = clock;
    this.#log = log;
  }

  get closed(): ReadonlyMap<ClosedFor, number> {
    return this.#closed;
  }

  /** Adds a new connection; false if every other one is busy, so that this one was closed. */
  take(socket: Socket): boolean {
    if (this.#open.size >= this.#most && !this.#makeRoom()) {
      this.close(socket, 'refused');
      return false;
    }
    const ends = endsOf(socket);
    this.#open.set(ends, { socket, isKnown: false, requests: 0, busySince: 0 });
    socket.once('close', () => {
      this.#open.delete(ends);
      if (this.#open.size <= this.#most / 2) this.#wasFull = false;
    });
    return true;
  }

  /** Counts an arrived request; returns how many of its connection are not answered yet. */
  asked(socket: Socket): number {
    const connection = this.#open.get(endsOf(socket));
    if (connection === undefined) return 1;
    if (connection.requests === 0) connection.busySince = this.#clock.monotonic();
    connection.requests += 1;
    return connection.requests;
  }

  answered(socket: Socket): void {
    const ends = endsOf(socket);
    const connection = this.#open.get(ends);
    if (connection === undefined) return;
    connection.requests -= 1;
    // Moved to the end: it has been idle for the shortest time.
    this.#open.delete(ends);
    this.#open.set(ends, connection);
  }

  /** Whether an answer is in progress, so that nothing else may be written. */
  isBusy(socket: Socket): boolean {
    return (this.#open.get(endsOf(socket))?.requests ?? 0) > 0;
  }

  /** A request of this connection has passed the guard. */
  letIn(socket: Socket): void {
    const connection = this.#open.get(endsOf(socket));
    if (connection !== undefined) connection.isKnown = true;
  }

  close(socket: Socket, reason: ClosedFor): void {
    this.#closed.set(reason, (this.#closed.get(reason) ?? 0) + 1);
    socket.destroy();
  }

  #makeRoom(): boolean {
    this.#tell();
    const idle = [...this.#open].filter(([, { requests }]) => requests === 0);
    const [ends, connection] = idle.find(([, { isKnown }]) => !isKnown) ?? idle[0] ?? this.#busyLongest() ?? [];
    if (ends === undefined || connection === undefined) return false;
    this.#open.delete(ends);
    this.close(connection.socket, 'limit');
    return true;
  }

  #busyLongest(): readonly [string, Connection] | undefined {
    const latest = this.#clock.monotonic() - BUSY_MS;
    const busy = [...this.#open].filter(([, { busySince }]) => busySince <= latest);
    return busy.toSorted(([, one], [, other]) => one.busySince - other.busySince)[0];
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
