import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { joinedCrc, shiftOf } from './crc32.ts';
import { ownCopy } from './room.ts';

/** The codings that a scrape can be packed with, in the words of `Accept-Encoding`. */
export type Coding = 'gzip' | 'zstd';

/** Some lines packed, ready to stand between others in a stream of the same coding. */
export interface Packed {
  readonly bytes: Buffer;
  /** How many bytes they are unpacked. */
  readonly plain: number;
  /** Of the plain bytes: the trailer of gzip is made of these. */
  readonly crc: number;
  readonly shift: number;
}

/** What of a scrape is packed already, and what of it is not. */
export type Item = Packed | Buffer;

/** What is sent of a scrape: its length is known before the first byte. */
export interface Body {
  readonly length: number;
  /** The buffers in order; what has to be made for it is made while they are sent. */
  pieces(): Iterable<Buffer>;
}

type Zstd = (bytes: Buffer, settings: object) => Promise<Buffer>;

// From Node 22.15 on; asked for by name, for Node 20 has neither the function nor a type for it.
const zstdCompress = (zlib as { readonly zstdCompress?: unknown }).zstdCompress;
const zstd = typeof zstdCompress === 'function' ? (promisify(zstdCompress) as Zstd) : undefined;
const deflate = promisify(zlib.deflateRaw) as (bytes: Buffer, settings: zlib.ZlibOptions) => Promise<Buffer>;

/** The codings that this Node can pack with. */
export const CODINGS: readonly Coding[] = zstd === undefined ? ['gzip'] : ['gzip', 'zstd'];

/**
 * Level 1: four percent more bytes than the default for half the time. Ended by a flush and not by a last block: what
 * comes out ends at a byte, refers to nothing before it, and any number of them in a row are one stream.
 */
const DEFLATE: zlib.ZlibOptions = { level: 1, finishFlush: zlib.constants.Z_SYNC_FLUSH };

/** Packs some lines on the thread pool. */
export async function pack(coding: Coding, lines: Buffer): Promise<Packed> {
  const made = coding === 'gzip' || zstd === undefined ? await deflate(lines, DEFLATE) : await zstd(lines, {});
  return packed(made, lines);
}

/** Packs a few lines at once: headers, which never change. */
export function packAtOnce(coding: Coding, lines: Buffer): Packed {
  if (coding === 'gzip') return packed(zlib.deflateRawSync(lines, DEFLATE), lines);
  return packed(Buffer.concat([...zstdStored(lines)]), lines);
}

/** Several in a row as one. */
export function joined(parts: readonly Packed[]): Packed {
  let plain = 0;
  let crc = 0;
  for (const part of parts) {
    crc = joinedCrc(crc, part.crc, part.shift);
    plain += part.plain;
  }
  return { bytes: Buffer.concat(parts.map(({ bytes }) => bytes)), plain, crc, shift: shiftOf(plain) };
}

/** Packed items below this are put together: a write of each would cost more than copying it. */
const SMALL_BYTES = 64 * 1024;

/** What is put together is not grown beyond about this. */
const TOGETHER_BYTES = 256 * 1024;

/** The same items, small packed neighbours as one. */
export function together(items: Iterable<Item>): Item[] {
  const made: Item[] = [];
  let waiting: Packed[] = [];
  let size = 0;
  const flush = () => {
    const [only] = waiting;
    if (only !== undefined) made.push(waiting.length === 1 ? only : joined(waiting));
    waiting = [];
    size = 0;
  };
  for (const item of items) {
    if (Buffer.isBuffer(item) || item.bytes.length >= SMALL_BYTES) {
      flush();
      made.push(item);
    } else {
      waiting.push(item);
      size += item.bytes.length;
      if (size >= TOGETHER_BYTES) flush();
    }
  }
  flush();
  return made;
}

/** What goes over the wire for these items: as they are, or in a coding, in which none of them may be packed otherwise. */
export function bodyOf(items: readonly Item[], coding: Coding): Body {
  return coding === 'gzip' ? gzipBody(items) : zstdBody(items);
}

/** Buffers as they are. */
export function plainBody(buffers: readonly Buffer[]): Body {
  return { length: buffers.reduce((size, { length }) => size + length, 0), pieces: () => buffers };
}

/** Gzip, deflate, no name, no time, made on Unix. */
const GZIP_HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);

/** The last block of a deflate stream, with nothing in it. */
const LAST_BLOCK = Buffer.from([3, 0]);

const GZIP_TAIL_BYTES = 8;

/** The most that a stored block of deflate can hold. */
const STORED_BYTES = 65_535;

/**
 * One gzip member, for curl and browsers read no further than the first: deflate blocks in a row, some made beforehand,
 * some stored as they are, under a checksum that is put together from theirs.
 */
function gzipBody(items: readonly Item[]): Body {
  let length = GZIP_HEAD.length + LAST_BLOCK.length + GZIP_TAIL_BYTES;
  for (const item of items) {
    length += Buffer.isBuffer(item) ? item.length + 5 * Math.ceil(item.length / STORED_BYTES) : item.bytes.length;
  }
  return { length, pieces: () => gzipPieces(items) };
}

function* gzipPieces(items: readonly Item[]): Generator<Buffer> {
  let crc = 0;
  let plain = 0;
  yield GZIP_HEAD;
  for (const item of items) {
    if (Buffer.isBuffer(item)) {
      crc = zlib.crc32(item, crc);
      plain += item.length;
      for (let at = 0; at < item.length; at += STORED_BYTES) {
        const stored = item.subarray(at, at + STORED_BYTES);
        const head = Buffer.alloc(5);
        head.writeUInt16LE(stored.length, 1);
        head.writeUInt16LE(~stored.length & 0xffff, 3);
        yield head;
        yield stored;
      }
    } else {
      crc = joinedCrc(crc, item.crc, item.shift);
      plain += item.plain;
      yield item.bytes;
    }
  }
  yield LAST_BLOCK;
  const tail = Buffer.alloc(GZIP_TAIL_BYTES);
  tail.writeUInt32LE(crc, 0);
  tail.writeUInt32LE(plain % 2 ** 32, 4);
  yield tail;
}

/** The most that a block of zstd can hold. */
const ZSTD_BLOCK_BYTES = 131_072;

/** Frames in a row (RFC 8878, 3): those made beforehand, and raw ones for what is not packed yet. */
function zstdBody(items: readonly Item[]): Body {
  let length = 0;
  for (const item of items) {
    if (!Buffer.isBuffer(item)) length += item.bytes.length;
    else if (item.length > 0) length += 9 + item.length + 3 * Math.ceil(item.length / ZSTD_BLOCK_BYTES);
  }
  function* pieces(): Generator<Buffer> {
    for (const item of items) {
      if (Buffer.isBuffer(item)) yield* zstdStored(item);
      else yield item.bytes;
    }
  }
  return { length, pieces };
}

/** A frame of raw blocks: its magic number, a size of four bytes, no checksum. */
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

function packed(bytes: Buffer, lines: Buffer): Packed {
  // A copy of its own where it is a part of something larger, which it would keep alive.
  const own = bytes.buffer.byteLength > 2 * bytes.length ? ownCopy(bytes) : bytes;
  return { bytes: own, plain: lines.length, crc: zlib.crc32(lines), shift: shiftOf(lines.length) };
}
