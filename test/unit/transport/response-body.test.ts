import { deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { type ResponseLimits, responseLimits } from '../../../src/transport/response-body.ts';
import { listing, running, served } from './served.ts';

const LIMIT = 10_000;
const MIB = 1024 * 1024;
const gzip = { 'content-encoding': 'gzip' };

/** What comes of a response with this body: its value, or the code and the message of the error. */
async function read(
  body: Buffer | string,
  headers: Readonly<Record<string, string>> = {},
  given: Partial<ResponseLimits> = {},
) {
  const { client } = await served((_, response) => void response.writeHead(200, headers).end(body), {
    bytes: LIMIT,
    values: 1_000,
    ...given,
  });
  return client.send(listing, running).catch(({ code, message, problem }) => ({ code, message, problem }));
}

test.each<[string, Buffer | string, Readonly<Record<string, string>>, unknown]>([
  ['JSON of any type', '{"items":[]}', { 'content-type': 'text/plain' }, { items: [] }],
  ['gzip', gzipSync('[1]'), gzip, [1]],
  ['gzip in two members', Buffer.concat([gzipSync('[1,'), gzipSync('2]')]), { 'content-encoding': 'X-GZIP' }, [1, 2]],
  ['deflate', deflateSync('[1]'), { 'content-encoding': 'deflate' }, [1]],
  ['nothing', '', gzip, undefined],
  ['a byte order mark', '\ufeff[1]', {}, [1]],
  ['exactly the allowed number of values', `[${'0,'.repeat(998)}0]`, {}, new Array(999).fill(0)],
  ['exactly the allowed size', `"${'a'.repeat(LIMIT - 2)}"`, {}, 'a'.repeat(LIMIT - 2)],
])('a body is read: %s', async (_, body, headers, value) => {
  expect(await read(body, headers)).toEqual(value);
});

const tooLarge = `the response is larger than ${LIMIT} bytes (MAX_RESPONSE_BYTES)`;
test.each<[string, Buffer | string, Readonly<Record<string, string>>, string, string]>([
  ['that says that it is too large', '[]', { 'content-length': String(LIMIT + 1) }, 'oversize', tooLarge],
  ['that is a byte too large', `"${'a'.repeat(LIMIT - 1)}"`, {}, 'oversize', tooLarge],
  ['that is a byte too large when it is decompressed', gzipSync('0'.repeat(LIMIT + 1)), gzip, 'oversize', tooLarge],
  ['with a value too many', `[${'0,'.repeat(999)}0]`, {}, 'oversize', 'the response has more than 1000 values'],
  ['that is a gzip bomb', gzipSync(Buffer.alloc(9_000_000)), gzip, 'oversize', tooLarge],
  ['that is a page', '<html>', { 'content-type': 'text/html' }, 'invalid', 'expected JSON, got a web page'],
  ['that is half a document', '{"items":[', {}, 'invalid', 'expected JSON, got 10 bytes of something else'],
  ['that is no UTF-8', Buffer.from([0x22, 0xff, 0x22]), {}, 'invalid', 'expected JSON, got 3 bytes of something else'],
  ['with damaged gzip', gzipSync('[1,2,3]').fill(0, 12), gzip, 'invalid', 'the compressed response is corrupted'],
  ['without the gzip that it says', '[1]', gzip, 'invalid', 'the compressed response is corrupted'],
  ['in brotli', '[1]', { 'content-encoding': 'br' }, 'invalid', 'expected gzip or no compression'],
])('a body is rejected %s', async (_, body, headers, code, message) => {
  expect(await read(body, headers)).toMatchObject({ code, message: `GET /serials: ${message}` });
});

const byMemory = responseLimits(64 * MIB, 32 * MIB);
test.each([
  [`[${'0,'.repeat(2_000_000)}0]`, responseLimits(1e15, 64 * MIB), 'long_list', 'has more than 2000000 values'],
  ['[{'.repeat(150_000), { ...byMemory, bytes: MIB }, 'memory', 'has more than 223696 values'],
  [' '.repeat(4 * MIB + 1), byMemory, 'memory', 'is larger than 4194304 bytes (the limit that memory allows'],
])('a body is rejected that is larger than the process can read (%#)', async (body, limits, problem, message) => {
  const error = { code: 'oversize', problem, message: expect.stringContaining(`the response ${message}`) };
  expect(await read(gzipSync(body), gzip, limits)).toMatchObject(error);
});

test.each<[string, Buffer | string, Readonly<Record<string, string>>, string]>([
  ['decompressed', gzipSync('{"message":"Nope"}'), gzip, ': Nope'],
  ['of 64 KiB', '{"message":"Nope"}'.padEnd(65_536), {}, ': Nope'],
  ['a byte above 64 KiB', '{"message":"Nope"}'.padEnd(65_537), {}, ''],
  ['a gzip bomb', gzipSync(Buffer.alloc(20_000_000)), gzip, ''],
  ['nested too deep', '['.repeat(60_000), {}, ''],
])('the body of an error is read without a second error: %s', async (_, body, headers, words) => {
  const { failure } = await served((_request, response) => void response.writeHead(500, headers).end(body));
  expect((await failure()).message).toBe(`GET /serials returned 500${words}`);
});
