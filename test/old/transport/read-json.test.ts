import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { ResponseLimits } from '../../src/transport/response-limits.ts';
import { listing, mocked, onwards } from './polite.ts';

const limit = 10_000;
const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;

/** What came of one answer of these bytes: the parsed body, or the code and message of the error. */
async function outcome(
  body: Buffer | string,
  headers: Readonly<Record<string, string>> = {},
  limits: Partial<ResponseLimits> = {},
) {
  const { api, client, ears } = mocked({ bytes: limit, ...limits });
  api.intercept({ path: '/v1/serials' }).reply(200, body, { headers });
  const result = await client.send(listing, onwards).then(
    (parsed) => ({ parsed }),
    ({ code, message, cause }) => ({ code, message, cause }),
  );
  const told = 'code' in result ? result.code : '200';
  expect([ears.codes, ears.inFlight]).toEqual([[told], 0]);
  return result;
}

const place = 'GET /serials: ';
const gzip = { 'content-encoding': 'gzip' };

describe('a body that can be read', () => {
  test.each<[string, Buffer | string, Readonly<Record<string, string>>, unknown]>([
    ['JSON', '{"items":[]}', {}, { items: [] }],
    ['whatever its type is called', '[1]', { 'content-type': 'text/plain' }, [1]],
    ['named identity', '[1]', { 'content-encoding': 'identity' }, [1]],
    ['gzip', gzipSync('[1]'), gzip, [1]],
    ['gzip under its old name, in capitals', gzipSync('[1]'), { 'content-encoding': 'X-GZIP' }, [1]],
    ['gzip in two members', Buffer.concat([gzipSync('[1,'), gzipSync('2]')]), gzip, [1, 2]],
    ['deflate', deflateSync('[1]'), { 'content-encoding': 'deflate' }, [1]],
    ['nothing at all', '', {}, undefined],
    ['behind a byte order mark', '\ufeff[1]', {}, [1]],
    ['exactly as large as allowed', `"${'a'.repeat(limit - 2)}"`, {}, 'a'.repeat(limit - 2)],
  ])('%s', async (_, body, headers, parsed) => {
    expect(await outcome(body, headers)).toEqual({ parsed });
  });
});

describe('a body that cannot be read', () => {
  const tooLarge = `${place}the response is larger than ${limit} bytes (MAX_RESPONSE_BYTES)`;
  const notJson = (bytes: number) => `${place}expected JSON, got ${bytes} bytes of something else`;
  test.each<[string, Buffer | string, Readonly<Record<string, string>>, string, string]>([
    ['too large by its own word', '[]', { 'content-length': String(limit + 1) }, 'oversize', tooLarge],
    ['one byte too large', `"${'a'.repeat(limit - 1)}"`, {}, 'oversize', tooLarge],
    ['too large once unpacked', gzipSync('0'.repeat(limit + 1)), gzip, 'oversize', tooLarge],
    ['a gzip bomb', gzipSync(Buffer.alloc(10_000 * 900)), gzip, 'oversize', tooLarge],
    ['HTML of a gateway', '<html>hello</html>', { 'content-type': 'text/html' }, 'invalid', 'got a web page'],
    ['half a document', '{"items":[', {}, 'invalid', notJson(10)],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22]), {}, 'invalid', notJson(4)],
    ['damaged gzip', gzipSync('[1,2,3]').fill(0, 12), gzip, 'invalid', `${place}the compressed response is corrupted`],
    ['gzip that is none', '[1]', gzip, 'invalid', `${place}the compressed response is corrupted`],
    ['brotli', '[1]', { 'content-encoding': 'br' }, 'invalid', `${place}expected gzip or no compression`],
    [
      'packed by a prototype',
      '[1]',
      { 'content-encoding': 'toString' },
      'invalid',
      `${place}expected gzip or no compression`,
    ],
  ])('%s', async (_, body, headers, code, message) => {
    expect(await outcome(body, headers)).toMatchObject({ code, message: expect.stringContaining(message) });
  });

  test('that would take more memory than there is for it', async () => {
    const message = `${place}the parsed response would take more than the limit of 10000 bytes of memory`;
    const full = `{"items":[${'{},'.repeat(1_000)}{}]}`;
    expect(await outcome(full, {}, { parsedBytes: 10_000 })).toMatchObject({
      code: 'oversize',
      message,
    });
    expect(await outcome(gzipSync(full), gzip, { parsedBytes: 10_000 })).toMatchObject({ code: 'oversize', message });
    expect(await outcome(full, {}, { parsedBytes: 200_000 })).toEqual({ parsed: JSON.parse(full) });
  });

  test('is larger than there is memory for, which says what to do about it', async () => {
    const message = `${place}the response is larger than ${limit} bytes (the limit that memory allows for one response)`;
    const result = await outcome('a'.repeat(limit + 1), {}, { isByMemory: true });
    expect(result).toMatchObject({ code: 'oversize', message });
  });

  test('is nested 100,000 levels deep', async () => {
    const message = `${place}the response is nested deeper than 64 levels`;
    expect(await outcome(deep, {}, { bytes: 1_000_000 })).toMatchObject({ code: 'invalid', message });
  });
});

describe('the body of an error', () => {
  test.each<[string, Buffer | string, Readonly<Record<string, string>>, string]>([
    ['huge by its own word', '{"message":"huge"}', { 'content-length': '100000000' }, ''],
    ['packed', gzipSync('{"message":"Nope"}'), gzip, ': Nope'],
    ['a bomb', gzipSync(Buffer.alloc(20_000_000)), gzip, ''],
    ['no UTF-8', Buffer.from([0xff]), {}, ''],
    ['nested 100,000 levels deep', deep, {}, ''],
  ])('never turns it into another error: %s', async (_, body, headers, words) => {
    const { api, ears, failure } = mocked();
    api.intercept({ path: '/v1/serials' }).reply(500, body, { headers });
    expect(await failure()).toMatchObject({ code: '500', message: `GET /serials returned 500${words}` });
    expect([ears.codes, ears.inFlight]).toEqual([['500'], 0]);
  });
});
