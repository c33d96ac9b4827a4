import { Readable } from 'node:stream';
import { createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import type { Clock } from '../runtime/clock.ts';
import { RequestError } from '../runtime/errors.ts';
import { inSlices } from '../runtime/slices.ts';
import type { AnswerLimits } from './answer-limits.ts';
import { burdenOf, DEEPEST } from './json/cost.ts';
import { parseInSlices } from './json/parse.ts';

const unpackers = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate } as const;

/** Unpacked bodies come in pieces of this size. */
const PIECE_BYTES = 64 * 1024;

/** A body up to this size is parsed in one go: some milliseconds, where every object has keys of its own. A larger one in slices. */
const AT_ONCE_BYTES = 32 * 1024;

/** How much of the body of a failed request is read: enough for its message. */
const MOST_ERROR_BYTES = 64 * 1024;

/** How a body is to be read. */
export interface ReadSettings {
  /** What is larger or heavier is abandoned. */
  readonly limits: AnswerLimits;
  /** For the body of an error: whatever is wrong with it gives undefined and no second error. */
  readonly lenient: boolean;
  /** What it answers, for messages: method and path. */
  readonly place: string;
  /** Measures the slices in which a large body is read. */
  readonly clock: Clock;
}

/** A body in pieces: one buffer of it could be large enough to be felt. */
interface Pieces {
  readonly buffers: Buffer[];
  readonly size: number;
}

/**
 * Reads and parses a JSON body within bounds. Throws a RequestError `oversize` for one too large, also once unpacked, or
 * too heavy once parsed, `network` for one cut off, and `invalid` for one that is not JSON in UTF-8, or too deep.
 */
export async function readJson(answer: Dispatcher.ResponseData, settings: ReadSettings): Promise<unknown> {
  try {
    const packed = await collect(answer, settings);
    return await parse(await unpack(packed, answer.headers['content-encoding'], settings), settings);
  } catch (error) {
    if (settings.lenient) return undefined;
    throw error;
  } finally {
    // Whatever was not read is not read any more, and the connection goes with it.
    answer.body.on('error', () => {}).destroy();
  }
}

async function collect({ body, headers }: Dispatcher.ResponseData, settings: ReadSettings): Promise<Pieces> {
  const { limits, lenient } = settings;
  const bytes = lenient ? Math.min(limits.bytes, MOST_ERROR_BYTES) : limits.bytes;
  if (Number(headers['content-length']) > bytes) throw tooLarge(settings);
  return gather(body as AsyncIterable<Buffer>, { ...settings, limits: { ...limits, bytes } });
}

async function gather(body: AsyncIterable<Buffer>, settings: ReadSettings): Promise<Pieces> {
  const buffers: Buffer[] = [];
  let size = 0;
  for await (const buffer of body) {
    size += buffer.length;
    if (size > settings.limits.bytes) throw tooLarge(settings);
    buffers.push(buffer);
  }
  return { buffers, size };
}

async function unpack(
  packed: Pieces,
  encoding: string | string[] | undefined,
  settings: ReadSettings,
): Promise<Pieces> {
  const name = String(encoding ?? 'identity').toLowerCase();
  if (name === 'identity' || name === '') return packed;
  const unpacker = Object.hasOwn(unpackers, name) ? unpackers[name as keyof typeof unpackers] : undefined;
  if (unpacker === undefined) {
    throw new RequestError('invalid', `${settings.place}: expected an answer packed with gzip or not at all`);
  }
  try {
    return await gather(Readable.from(packed.buffers).pipe(unpacker({ chunkSize: PIECE_BYTES })), settings);
  } catch (cause) {
    if (cause instanceof RequestError) throw cause;
    throw new RequestError('invalid', `${settings.place}: the packed answer is damaged`, { cause });
  }
}

async function parse(pieces: Pieces, { limits, place, clock }: ReadSettings): Promise<unknown> {
  const { buffers, size } = pieces;
  // DELETE /auth/token may answer with nothing at all.
  if (size === 0) return undefined;
  // Before anything is made of it: where V8 finds no memory, it ends the process, and nothing here could handle that.
  const burden = await inSlices(burdenOf(buffers, limits.weight), clock);
  if (burden === 'deep') {
    throw new RequestError('invalid', `${place}: expected little or nothing nested deeper than ${DEEPEST} levels`);
  }
  if (burden === 'heavy') {
    const room = `the ${limits.weight} bytes of memory that there are for one`;
    throw new RequestError('oversize', `${place}: the answer would take more than ${room} once read${MORE_MEMORY}`);
  }
  try {
    if (size > AT_ONCE_BYTES) return await inSlices(parsed(pieces), clock);
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(buffers, size)));
  } catch {
    // Neither the parser's message nor the cause is kept: V8 quotes the body in it.
    throw new RequestError('invalid', `${place}: expected JSON, got ${size} bytes of something else`);
  }
}

function* parsed({ buffers, size }: Pieces): Generator<void, unknown> {
  const whole = Buffer.allocUnsafeSlow(size);
  let at = 0;
  for (const [index, buffer] of buffers.entries()) {
    at += buffer.copy(whole, at);
    // Not held twice, once it is copied.
    buffers[index] = Buffer.alloc(0);
    yield;
  }
  return yield* parseInSlices(whole);
}

function tooLarge({ place, limits: { bytes, isByMemory } }: ReadSettings): RequestError {
  const why = isByMemory ? `, as many as there is memory for in one${MORE_MEMORY}` : ' (MAX_RESPONSE_BYTES)';
  return new RequestError('oversize', `${place}: the answer is larger than ${bytes} bytes${why}`);
}

/** What to do about an answer that the memory is too small for. */
const MORE_MEMORY = '; if it is a good one, give the process more memory';
