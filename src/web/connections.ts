import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Why the server closes connections, for `filer_exporter_web_connections_closed_total`. */
export type CloseReason = 'limit' | 'unread';

const MAX_CONNECTIONS = 256;

/** How much of a connection the HTTP parser gets in one turn of the event loop, in bytes. */
const READ_BYTES = 1024;

/** A connection as it was accepted, below TLS. */
interface Connection {
  readonly socket: Socket;
  /** The responses in progress: one, and while its last part is on the way perhaps another. */
  readonly responses: Set<ServerResponse>;
}

/**
 * The open connections, up to a limit. At the limit, a new connection replaces the one that has been without a request for
 * the longest time. `maxConnections` of Node.js closes the new one instead, so that idle clients would lock scrapers out.
 */
export class Connections {
  /** By the addresses of their ends; of those without a request, the longest unused one is first. */
  readonly #open = new Map<string, Connection>();
  readonly closed = new Map<CloseReason, number>([
    ['limit', 0],
    ['unread', 0],
  ]);

  /** Adds a connection as it was accepted. If every other one has a request in progress, it is closed itself. */
  add(socket: Socket): void {
    // A client may reset its connection at any time. Without a listener this would end the process.
    socket.on('error', () => {});
    // The client has left already, and its address is unknown.
    if (socket.remoteAddress === undefined) {
      socket.destroy();
      return;
    }
    const ends = endsOf(socket);
    const connection = { socket, responses: new Set<ServerResponse>() };
    this.#open.set(ends, connection);
    socket.once('close', () => {
      if (this.#open.get(ends) === connection) this.#open.delete(ends);
    });
    if (this.#open.size <= MAX_CONNECTIONS) return;
    for (const [endsOfOther, { socket: other, responses }] of this.#open) {
      if (responses.size > 0) continue;
      this.#open.delete(endsOfOther);
      this.close(other, 'limit');
      return;
    }
  }

  /**
   * Counts the connection of a response as used until the response is closed. Returns false if the request came before the
   * end of the response to the previous one: no scraper sends it, and each one costs memory. One request may come after that
   * end: with TLS, a client can have a whole response before Node.js knows that it was sent.
   */
  begin(response: ServerResponse): boolean {
    const ends = endsOf(response.req.socket);
    const connection = this.#open.get(ends);
    if (connection === undefined) return false;
    const { responses } = connection;
    if (responses.size > 1 || [...responses].some(({ writableEnded }) => !writableEnded)) return false;
    responses.add(response);
    response.once('close', () => {
      responses.delete(response);
      // The connection is now the one that was used last.
      if (this.#open.delete(ends)) this.#open.set(ends, connection);
    });
    return true;
  }

  close(socket: Socket, reason: CloseReason): void {
    this.closed.set(reason, (this.closed.get(reason) ?? 0) + 1);
    socket.destroy();
  }

  /** Closes the connections without a request, and each other one after its response. */
  retire(): void {
    for (const { socket, responses } of this.#open.values()) {
      const last = [...responses].at(-1);
      if (last === undefined) socket.destroy();
      else last.once('close', () => socket.destroySoon());
    }
  }
}

/** Identifies a connection. The socket of TLS and the one below it have these addresses in common. */
function endsOf({ localAddress, remoteAddress, remotePort }: Socket): string {
  return `${localAddress} ${remoteAddress} ${remotePort}`;
}

/**
 * Passes the bytes of a connection to the HTTP parser of Node.js in small parts, one in each turn of the event loop. Node.js
 * reads up to 64 KiB at once, which can be 3,000 requests, and creates an object of some kilobytes for each of them even after
 * the connection was closed. A few hundred such connections would exhaust the memory. The listener makes the stream wait
 * until it is read, and what is read reaches the listener of Node.js.
 */
export function readInParts(socket: Socket): void {
  let isScheduled = false;
  const readPart = () => {
    isScheduled = false;
    if (socket.destroyed) return;
    // If no bytes wait, this call ends the stream of a client that has sent everything.
    socket.read(Math.min(READ_BYTES, socket.readableLength) || undefined);
    if (socket.readableLength === 0) return;
    isScheduled = true;
    setImmediate(readPart);
  };
  socket.on('readable', () => {
    if (!isScheduled) readPart();
  });
}
