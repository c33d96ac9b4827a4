import { Readable } from 'node:stream';
import { createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import type { Clock } from '../runtime/clock.ts';
import { RequestError } from '../runtime/errors.ts';
import { runInSlices } from '../runtime/slices.ts';
import { estimateMemory, MAX_DEPTH } from './json/memory-estimate.ts';
import { parseInSlices } from './json/parse.ts';
import type { ResponseLimits } from './response-limits.ts';

const decompressors = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate } as const;

const PIECE_BYTES = 64 * 1024;

/** Smaller bodies are parsed in one step: it is ten times as fast, and takes some milliseconds at worst. */
const AT_ONCE_BYTES = 32 * 1024;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The body of an error is read up to this size, which is enough for its message. */
const MAX_ERROR_BYTES = 64 * 1024;

export interface ReadOptions {
  readonly limits: ResponseLimits;
  /** True for the body of an error: if it cannot be read, the result is undefined instead of a second error. */
  readonly lenient: boolean;
  /** Method and path, for messages. */
  readonly requestName: string;
  readonly clock: Clock;
  /** Counts the bytes of the body as they arrive. */
  readonly received: { bytes: number };
}

/**
 * Reads and parses the body of a response. It rejects with a RequestError `oversize` if the body is too large, before or
 * after decompression, or would take too much memory once parsed. It rejects with a RequestError `invalid` if the body is
 * not JSON in UTF-8 or is nested too deep, and with undici's error if the body is incomplete.
 */
export async function readJson(response: Dispatcher.ResponseData, options: ReadOptions): Promise<unknown> {
  try {
    return await parse(await decompress(response, options), isWebPage(response.headers), options);
  } catch (error) {
    if (options.lenient) return undefined;
    throw error;
  } finally {
    // If a part of the body was not read, this closes the connection.
    response.body.on('error', () => {}).destroy();
  }
}

async function decompress({ body, headers }: Dispatcher.ResponseData, options: ReadOptions): Promise<Buffer[]> {
  const { limits, lenient, requestName, received } = options;
  const bytes = lenient ? Math.min(limits.bytes, MAX_ERROR_BYTES) : limits.bytes;
  if (Number(headers['content-length']) > bytes) throw tooLarge(options);
  const compressed = await collect(
    body as AsyncIterable<Buffer>,
    { ...options, limits: { ...limits, bytes } },
    received,
  );
  const encoding = String(headers['content-encoding'] ?? '').toLowerCase();
  if (encoding === '' || encoding === 'identity') return compressed;
  const decompressor = Object.hasOwn(decompressors, encoding)
    ? decompressors[encoding as keyof typeof decompressors]
    : undefined;
  if (decompressor === undefined) throw new RequestError('invalid', `${requestName}: expected gzip or no compression`);
  try {
    return await collect(Readable.from(compressed).pipe(decompressor({ chunkSize: PIECE_BYTES })), options);
  } catch (cause) {
    if (cause instanceof RequestError) throw cause;
    throw new RequestError('invalid', `${requestName}: the compressed response is corrupted`, { cause });
  }
}

async function collect(body: AsyncIterable<Buffer>, options: ReadOptions, counter = { bytes: 0 }): Promise<Buffer[]> {
  const buffers: Buffer[] = [];
  for await (const buffer of body) {
    counter.bytes += buffer.length;
    if (counter.bytes > options.limits.bytes) throw tooLarge(options);
    buffers.push(buffer);
  }
  return buffers;
}

export function isWebPage(headers: Dispatcher.ResponseData['headers']): boolean {
  return /text\/html/i.test(String(headers['content-type']));
}

async function parse(
  buffers: Buffer[],
  isPage: boolean,
  { limits, requestName, clock }: ReadOptions,
): Promise<unknown> {
  const size = buffers.reduce((sum, { length }) => sum + length, 0);
  // DELETE /auth/token may return an empty body.
  if (size === 0) return undefined;
  // The memory is estimated before parsing: if V8 runs out of memory, it ends the process, and no handler here would run.
  const cost = await runInSlices(estimateMemory(buffers, limits.parsedBytes), clock);
  if (cost === 'deep')
    throw new RequestError('invalid', `${requestName}: the response is nested deeper than ${MAX_DEPTH} levels`);
  if (cost === 'heavy') {
    const room = `the limit of ${limits.parsedBytes} bytes of memory`;
    throw new RequestError('oversize', `${requestName}: the parsed response would take more than ${room}`, {
      problem: 'memory',
    });
  }
  try {
    return await runInSlices(parseJoined(buffers, size), clock);
  } catch {
    // The parser's error is dropped, because V8 quotes the body in it.
    throw new RequestError(
      'invalid',
      `${requestName}: expected JSON, got ${isPage ? 'a web page' : `${size} bytes of something else`}`,
      { problem: isPage ? 'page' : undefined },
    );
  }
}

function* parseJoined(buffers: Buffer[], size: number): Generator<void, unknown> {
  const body = Buffer.allocUnsafeSlow(size);
  let at = 0;
  while (buffers.length > 0) {
    // A buffer is released as soon as it is copied, so that memory does not hold the body twice.
    at += buffers.shift()?.copy(body, at) ?? 0;
    yield;
  }
  return size > AT_ONCE_BYTES ? yield* parseInSlices(body) : JSON.parse(utf8.decode(body));
}

function tooLarge({ requestName, limits: { bytes, isByMemory } }: ReadOptions): RequestError {
  const why = isByMemory ? 'the limit that memory allows for one response' : 'MAX_RESPONSE_BYTES';
  return new RequestError('oversize', `${requestName}: the response is larger than ${bytes} bytes (${why})`, {
    problem: isByMemory ? 'memory' : undefined,
  });
}
