import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** The parser reads so many bytes of a connection at once: a dozen of the shortest requests. */
const CHUNK_BYTES = 512;

/**
 * Returns a stream over a connection that passes a few hundred bytes at once to the HTTP server, and none after the
 * connection was closed. The parser of Node creates an object for every request in the bytes that it receives, even after
 * the connection was closed. A socket reads up to 64 KiB, which may be 2,500 requests of some kilobytes of memory each: a
 * few hundred connections would exhaust the memory.
 */
export function limitParserChunks(socket: Socket): Duplex {
  const passOn = () => {
    if (socket.destroyed) return;
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
  return stream;
}
