import { promisify } from 'node:util';
import { unzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { errorCode, RequestError } from '../runtime/errors.ts';

/** What the body of one response may have at most. */
export interface ResponseLimits {
  /** The bytes of the body, compressed and uncompressed. */
  readonly bytes: number;
  /** The values: members of objects and elements of lists. */
  readonly values: number;
  /** Whether the memory of the process, and not `MAX_RESPONSE_BYTES`, sets the limit `bytes`. */
  readonly isByMemory: boolean;
}

/** More values are read in more than a second, and take some hundred megabytes of memory. */
const MAX_VALUES = 2_000_000;

/**
 * The bytes of heap for each allowed value, so that one response takes at most a third of the heap. Measured in V8: 8 for a
 * fraction, 40 for a short string, 67 for `{}`, 108 for an object with a key of its own.
 */
const HEAP_PER_VALUE = 300;

/** The largest body, as a share of the heap: several bodies arrive at once, and each is held twice while it is decompressed. */
const BODY_SHARE = 1 / 16;

/** `maxBytes`: the limit for every response, however much memory there is. */
export function responseLimits(heapBytes: number, maxBytes: number): ResponseLimits {
  const bytes = Math.floor(heapBytes * BODY_SHARE);
  return {
    bytes: Math.min(maxBytes, bytes),
    values: Math.min(MAX_VALUES, Math.floor(heapBytes / HEAP_PER_VALUE)),
    isByMemory: bytes < maxBytes,
  };
}

/** The body of an error is read up to this size, which is enough for its message. */
const MAX_ERROR_BYTES = 64 * 1024;

const ENCODINGS: ReadonlySet<string> = new Set(['gzip', 'x-gzip', 'deflate']);

const decompress = promisify(unzip);

const utf8 = new TextDecoder('utf-8', { fatal: true });

export interface ReadOptions {
  readonly limits: ResponseLimits;
  /** Method and path, for messages. */
  readonly requestName: string;
  /** Counts the bytes of the body as they arrive. */
  readonly received: { bytes: number };
}

/**
 * Reads and parses the body of a response. It rejects with a RequestError `oversize` if the body is too large, before or
 * after decompression, or has too many values. It rejects with a RequestError `invalid` if the body is not JSON in UTF-8,
 * and with undici's error if the body is incomplete.
 */
export async function readJson(response: Dispatcher.ResponseData, options: ReadOptions): Promise<unknown> {
  try {
    const bytes = await readBytes(response, options);
    // DELETE /auth/token may return an empty body.
    return bytes.length === 0 ? undefined : parse(bytes, isWebPage(response.headers), options);
  } finally {
    // If a part of the body was not read, this closes the connection.
    response.body.on('error', () => {}).destroy();
  }
}

/** Reads the body of an error. If it cannot be read, the result is undefined instead of a second error. */
export function readErrorBody(response: Dispatcher.ResponseData, options: ReadOptions): Promise<unknown> {
  const limits = { ...options.limits, bytes: Math.min(options.limits.bytes, MAX_ERROR_BYTES) };
  return readJson(response, { ...options, limits }).catch(() => undefined);
}

export function isWebPage(headers: Dispatcher.ResponseData['headers']): boolean {
  return /text\/html/i.test(String(headers['content-type']));
}

async function readBytes({ body, headers }: Dispatcher.ResponseData, options: ReadOptions): Promise<Buffer> {
  const { limits, requestName, received } = options;
  if (Number(headers['content-length']) > limits.bytes) throw tooLarge(options);
  const chunks: Buffer[] = [];
  for await (const chunk of body as AsyncIterable<Buffer>) {
    received.bytes += chunk.length;
    if (received.bytes > limits.bytes) throw tooLarge(options);
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding === 'identity' || bytes.length === 0) return bytes;
  if (!ENCODINGS.has(encoding)) throw new RequestError('invalid', `${requestName}: expected gzip or no compression`);
  try {
    return await decompress(bytes, { maxOutputLength: limits.bytes });
  } catch (cause) {
    if (errorCode(cause) === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(options);
    throw new RequestError('invalid', `${requestName}: the compressed response is corrupted`, { cause });
  }
}

function parse(bytes: Buffer, isPage: boolean, { limits, requestName }: ReadOptions): unknown {
  // The values are counted before parsing: if V8 runs out of memory, it ends the process, and no handler here would run.
  if (countValues(bytes) > limits.values) {
    throw new RequestError('oversize', `${requestName}: the response has more than ${limits.values} values`, {
      problem: limits.values < MAX_VALUES ? 'memory' : 'long_list',
    });
  }
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    // The parser's error is dropped, because V8 quotes the body in it.
    const got = isPage ? 'a web page' : `${bytes.length} bytes of something else`;
    throw new RequestError('invalid', `${requestName}: expected JSON, got ${got}`, {
      problem: isPage ? 'page' : undefined,
    });
  }
}

const [COMMA, LIST, OBJECT] = [0x2c, 0x5b, 0x7b];

/** Counts commas and opening brackets, also those in texts: there are at least as many as values. */
function countValues(bytes: Buffer): number {
  let count = 1;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === COMMA || byte === LIST || byte === OBJECT) count += 1;
  }
  return count;
}

function tooLarge({ requestName, limits: { bytes, isByMemory } }: ReadOptions): RequestError {
  const why = isByMemory ? 'the limit that memory allows for one response' : 'MAX_RESPONSE_BYTES';
  return new RequestError('oversize', `${requestName}: the response is larger than ${bytes} bytes (${why})`, {
    problem: isByMemory ? 'memory' : undefined,
  });
}
