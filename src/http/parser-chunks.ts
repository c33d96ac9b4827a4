import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** The bytes of a connection that the parser reads at once: a dozen of the shortest requests. */
const CHUNK_BYTES = 512;

/**
 * A stream over a connection, for the HTTP server, which reads a few hundred bytes at once and none after it was closed. The
 * parser of Node.js creates every request in what it reads, even after the connection was closed. A socket reads up to
 * 64 KiB, which is some 2,500 requests of kilobytes each: more memory than there is with a few hundred connections.
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
