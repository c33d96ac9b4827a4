import { Socket } from 'node:net';

/** The most bytes of a connection that the parser takes at once: a dozen of the shortest requests. */
const PIECE_BYTES = 512;

/**
 * Has what a client sends parsed in small pieces, and none after the connection was closed. Node.js parses up to 64 KiB at
 * once: some 2,500 requests, each an object of kilobytes before anything can refuse it. On a few hundred connections that is
 * more memory than there is. Call it when the HTTP server has taken the connection.
 */
export function parseInPieces(socket: Socket): void {
  const { push } = Socket.prototype;
  socket.push = (bytes: unknown, encoding?: BufferEncoding) => {
    if (!Buffer.isBuffer(bytes)) return push.call(socket, bytes, encoding);
    let more = true;
    for (let at = 0; at < bytes.length && !socket.destroyed; at += PIECE_BYTES) {
      more = push.call(socket, bytes.subarray(at, at + PIECE_BYTES));
    }
    return more;
  };
  // Without a listener of ours the parser reads from the system itself, past `push`.
  socket.on('data', () => {});
}
