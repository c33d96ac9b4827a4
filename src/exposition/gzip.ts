import { once } from 'node:events';
import { createGzip } from 'node:zlib';
import type { ResponseBody } from './body.ts';

/** Level 1 takes half the time of the default level and results in four percent more bytes. */
const LEVEL = 1;

/** Compresses a body on the thread pool. */
export async function gzip(body: ResponseBody): Promise<ResponseBody> {
  const stream = createGzip({ level: LEVEL, chunkSize: 64 * 1024 });
  const buffers: Buffer[] = [];
  stream.on('data', (compressed: Buffer) => void buffers.push(compressed));
  const ended = once(stream, 'end');
  for (const buffer of body.buffers()) await new Promise((resolve) => stream.write(buffer, resolve));
  stream.end();
  await ended;
  return { length: buffers.reduce((sum, { length }) => sum + length, 0), buffers: () => buffers };
}
