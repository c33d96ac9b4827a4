import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** How many bytes of a connection the parser reads at once: a few of the shortest requests. */
const CHUNK_BYTES = 64;

/** What the HTTP server reads of a connection: one request. */
export interface RequestStream {
  readonly stream: Duplex;
  /** Reads no more: the request has arrived. */
  stop(): void;
}

/**
 * Returns a stream over a connection that passes a few bytes at once to the HTTP server until it is stopped. The parser
 * of Node.js creates an object of some kilobytes for every request in the bytes that it receives, even after the
 * connection was closed. A socket reads up to 64 KiB at once, which may be 3,000 requests: a few hundred connections
 * would exhaust the memory.
 */
export function readRequest(socket: Socket): RequestStream {
  let isStopped = false;
  const passOn = () => {
    if (isStopped || socket.destroyed) return;
    const chunk: Buffer | null = socket.read(Math.min(CHUNK_BYTES, socket.readableLength) || undefined);
    if (chunk !== null) stream.push(chunk);
  };
  const stream = new Duplex({
    readableHighWaterMark: CHUNK_BYTES,
    read: passOn,
    write: (chunk, encoding, done) => void socket.write(chunk, encoding, done),
    final: (done) => {
      socket.destroySoon();
      done();
    },
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
  socket.on('readable', passOn).on('end', () => stream.push(null));
  socket.on('error', (error) => stream.destroy(error)).on('close', () => stream.destroy());
  return {
    stream,
    stop: () => {
      isStopped = true;
    },
  };
}
