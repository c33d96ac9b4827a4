import { Readable } from 'node:stream';
import { createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import type { Clock } from '../runtime/clock.ts';
import { RequestError } from '../runtime/errors.ts';
import { runInSlices } from '../runtime/slices.ts';
import { estimateMemory, MAX_DEPTH } from './json/memory-estimate.ts';
import { parseInSlices } from './json/parse.ts';
import type { ResponseLimits } from './response-limits.ts';

const unpackers = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate } as const;

const PIECE_BYTES = 64 * 1024;

/** Parsed in one step: ten times as fast, and some milliseconds if every object has its own keys. */
const AT_ONCE_BYTES = 32 * 1024;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Enough for the message of a failed request. */
const MAX_ERROR_BYTES = 64 * 1024;

export interface ReadOptions {
  readonly limits: ResponseLimits;
  /** For the body of an error: a fault in it gives undefined instead of a second error. */
  readonly lenient: boolean;
  readonly place: string;
  readonly clock: Clock;
  readonly sent: { bytes: number };
}

/**
 * Throws a RequestError: `oversize` for a body that is too large (also once uncompressed) or too heavy once parsed,
 * `network` for an incomplete one, and `invalid` for one that is not JSON in UTF-8 or is nested too deep.
 */
export async function readJson(answer: Dispatcher.ResponseData, settings: ReadOptions): Promise<unknown> {
  try {
    return await parse(await unpacked(answer, settings), settings);
  } catch (error) {
    if (settings.lenient) return undefined;
    throw error;
  } finally {
    // The rest of the body is not read, and the connection is closed.
    answer.body.on('error', () => {}).destroy();
  }
}

async function unpacked({ body, headers }: Dispatcher.ResponseData, settings: ReadOptions): Promise<Buffer[]> {
  const { limits, lenient, place, sent } = settings;
  const bytes = lenient ? Math.min(limits.bytes, MAX_ERROR_BYTES) : limits.bytes;
  if (Number(headers['content-length']) > bytes) throw tooLarge(settings);
  const packed = await gather(body as AsyncIterable<Buffer>, { ...settings, limits: { ...limits, bytes } }, sent);
  const encoding = String(headers['content-encoding'] ?? '').toLowerCase();
  if (encoding === '' || encoding === 'identity') return packed;
  const unpacker = Object.hasOwn(unpackers, encoding) ? unpackers[encoding as keyof typeof unpackers] : undefined;
  if (unpacker === undefined) throw new RequestError('invalid', `${place}: expected gzip or no compression`);
  try {
    return await gather(Readable.from(packed).pipe(unpacker({ chunkSize: PIECE_BYTES })), settings);
  } catch (cause) {
    if (cause instanceof RequestError) throw cause;
    throw new RequestError('invalid', `${place}: the compressed answer is corrupted`, { cause });
  }
}

async function gather(body: AsyncIterable<Buffer>, settings: ReadOptions, counted = { bytes: 0 }): Promise<Buffer[]> {
  const buffers: Buffer[] = [];
  for await (const buffer of body) {
    counted.bytes += buffer.length;
    if (counted.bytes > settings.limits.bytes) throw tooLarge(settings);
    buffers.push(buffer);
  }
  return buffers;
}

async function parse(buffers: Buffer[], { limits, place, clock }: ReadOptions): Promise<unknown> {
  const size = buffers.reduce((sum, { length }) => sum + length, 0);
  // DELETE /auth/token may have an empty answer.
  if (size === 0) return undefined;
  // Checked before parsing: if V8 finds no memory, it ends the process, and no handler here would run.
  const cost = await runInSlices(estimateMemory(buffers, limits.parsedBytes), clock);
  if (cost === 'deep')
    throw new RequestError('invalid', `${place}: the answer is nested deeper than ${MAX_DEPTH} levels`);
  if (cost === 'heavy') {
    const room = `the limit of ${limits.parsedBytes} bytes of memory`;
    throw new RequestError('oversize', `${place}: the parsed answer would take more than ${room}${MORE_MEMORY}`);
  }
  try {
    // The pieces are released, so that memory does not hold them beside the whole.
    const whole = Buffer.concat(buffers.splice(0), size);
    return size > AT_ONCE_BYTES ? await runInSlices(parseInSlices(whole), clock) : JSON.parse(utf8.decode(whole));
  } catch {
    // Without the parser's message and cause: V8 quotes the body in them.
    throw new RequestError('invalid', `${place}: expected JSON, got ${size} bytes of something else`);
  }
}

function tooLarge({ place, limits: { bytes, isByMemory } }: ReadOptions): RequestError {
  const why = isByMemory ? `, the limit that memory allows for one answer${MORE_MEMORY}` : ' (MAX_RESPONSE_BYTES)';
  return new RequestError('oversize', `${place}: the answer is larger than ${bytes} bytes${why}`);
}

const MORE_MEMORY = '; if such answers are expected, give the process more memory';
