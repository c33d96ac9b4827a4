import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { RequestError } from '../runtime/errors.ts';

const unpackers = { gzip: promisify(gunzip), 'x-gzip': promisify(gunzip), deflate: promisify(inflate) } as const;

/** How much of the body of a failed request is read: enough for its message. */
const MOST_ERROR_BYTES = 64 * 1024;

/** How a body is to be read. */
export interface ReadSettings {
  /** More than this, packed or unpacked, is abandoned. */
  readonly maxBytes: number;
  /** For the body of an error: whatever is wrong with it gives undefined and no second error. */
  readonly lenient: boolean;
  /** What it answers, for messages: method and path. */
  readonly place: string;
}

/**
 * Reads and parses a JSON body within bounds. Throws a RequestError `oversize` for one too large, also once unpacked,
 * `network` for one cut off, and `invalid` for one that is not JSON in UTF-8.
 */
export async function readJson(answer: Dispatcher.ResponseData, settings: ReadSettings): Promise<unknown> {
  try {
    const packed = await collect(answer, settings);
    const bytes = await unpack(packed, answer.headers['content-encoding'], settings);
    return parse(bytes, settings.place);
  } catch (error) {
    if (settings.lenient) return undefined;
    throw error;
  } finally {
    // Whatever was not read is not read any more, and the connection goes with it.
    answer.body.on('error', () => {}).destroy();
  }
}

async function collect({ body, headers }: Dispatcher.ResponseData, settings: ReadSettings): Promise<Buffer> {
  const maxBytes = settings.lenient ? Math.min(settings.maxBytes, MOST_ERROR_BYTES) : settings.maxBytes;
  if (Number(headers['content-length']) > maxBytes) throw oversize(settings);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw oversize(settings);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

async function unpack(bytes: Buffer, encoding: string | string[] | undefined, settings: ReadSettings): Promise<Buffer> {
  const name = String(encoding ?? 'identity').toLowerCase();
  if (name === 'identity' || name === '') return bytes;
  const unpacker = Object.hasOwn(unpackers, name) ? unpackers[name as keyof typeof unpackers] : undefined;
  if (unpacker === undefined) {
    throw new RequestError('invalid', `${settings.place}: expected an answer packed with gzip or not at all`);
  }
  try {
    return await unpacker(bytes, { maxOutputLength: settings.maxBytes });
  } catch (cause) {
    if (cause instanceof RangeError) throw oversize(settings);
    throw new RequestError('invalid', `${settings.place}: the packed answer is damaged`, { cause });
  }
}

function parse(bytes: Buffer, place: string): unknown {
  // DELETE /auth/token may answer with nothing at all.
  if (bytes.length === 0) return undefined;
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    // Neither the parser's message nor the cause is kept: V8 quotes the body in it.
    throw new RequestError('invalid', `${place}: expected JSON, got ${bytes.length} bytes of something else`);
  }
}

function oversize({ place, maxBytes }: ReadSettings): RequestError {
  return new RequestError('oversize', `${place}: the answer is larger than ${maxBytes} bytes (MAX_RESPONSE_BYTES)`);
}
