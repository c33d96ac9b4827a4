import { crc32 } from 'node:zlib';
import type { Coding, Piece } from './compression.ts';
import { joinedCrc } from './crc32.ts';

/** The body of an answer; its length is known before the first byte. */
export interface Body {
  readonly length: number;
  /** The buffers in order, made while they are sent. */
  buffers(): Iterable<Buffer>;
}

/** The body of these pieces, plain or in a coding; compressed pieces must have the same coding. */
export function bodyOf(pieces: readonly Piece[], coding: Coding | undefined): Body {
  if (coding === undefined) return plainBody(pieces.filter((piece) => Buffer.isBuffer(piece)));
  return coding === 'gzip' ? gzipBody(pieces) : zstdBody(pieces);
}

function plainBody(buffers: readonly Buffer[]): Body {
  return { length: buffers.reduce((size, { length }) => size + length, 0), buffers: () => buffers };
}

/** Gzip, deflate, no name, no time, created on Unix. */
const GZIP_HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);

/** An empty last block of a deflate stream. */
const LAST_BLOCK = Buffer.from([3, 0]);

const GZIP_TAIL_BYTES = 8;

/** The size limit of a stored block in deflate. */
const STORED_BYTES = 65_535;

/**
 * One gzip member, because curl and browsers read only the first: deflate blocks, some compressed beforehand and some
 * stored, with a checksum combined from theirs.
 */
function gzipBody(pieces: readonly Piece[]): Body {
  let length = GZIP_HEAD.length + LAST_BLOCK.length + GZIP_TAIL_BYTES;
  for (const piece of pieces) {
    length += Buffer.isBuffer(piece) ? piece.length + 5 * Math.ceil(piece.length / STORED_BYTES) : piece.bytes.length;
  }
  return { length, buffers: () => gzipBuffers(pieces) };
}

function* gzipBuffers(pieces: readonly Piece[]): Generator<Buffer> {
  let crc = 0;
  let plain = 0;
  yield GZIP_HEAD;
  for (const piece of pieces) {
    if (Buffer.isBuffer(piece)) {
      crc = crc32(piece, crc);
      plain += piece.length;
      for (let at = 0; at < piece.length; at += STORED_BYTES) {
        const stored = piece.subarray(at, at + STORED_BYTES);
        const head = Buffer.alloc(5);
        head.writeUInt16LE(stored.length, 1);
        head.writeUInt16LE(~stored.length & 0xffff, 3);
        yield head;
        yield stored;
      }
    } else {
      crc = joinedCrc(crc, piece.crc, piece.shift);
      plain += piece.plain;
      yield piece.bytes;
    }
  }
  yield LAST_BLOCK;
  const tail = Buffer.alloc(GZIP_TAIL_BYTES);
  tail.writeUInt32LE(crc, 0);
  tail.writeUInt32LE(plain % 2 ** 32, 4);
  yield tail;
}

/** The size limit of a block in zstd. */
const ZSTD_BLOCK_BYTES = 131_072;

/** A sequence of frames (RFC 8878, 3): those compressed beforehand, and raw ones for the rest. */
function zstdBody(pieces: readonly Piece[]): Body {
  let length = 0;
  for (const piece of pieces) {
    if (!Buffer.isBuffer(piece)) length += piece.bytes.length;
    else if (piece.length > 0) length += 9 + piece.length + 3 * Math.ceil(piece.length / ZSTD_BLOCK_BYTES);
  }
  function* buffers(): Generator<Buffer> {
    for (const piece of pieces) {
      if (Buffer.isBuffer(piece)) yield* zstdStored(piece);
      else yield piece.bytes;
    }
  }
  return { length, buffers };
}

/** A frame of raw blocks: magic number, a size of four bytes, no checksum. */
function* zstdStored(lines: Buffer): Generator<Buffer> {
  if (lines.length === 0) return;
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0]);
  head.writeUInt32LE(lines.length, 5);
  yield head;
  for (let at = 0; at < lines.length; at += ZSTD_BLOCK_BYTES) {
    const block = lines.subarray(at, at + ZSTD_BLOCK_BYTES);
    const last = at + ZSTD_BLOCK_BYTES >= lines.length ? 1 : 0;
    const blockHead = Buffer.alloc(3);
    blockHead.writeUIntLE((block.length << 3) | last, 0, 3);
    yield blockHead;
    yield block;
  }
}
