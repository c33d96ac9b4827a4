import type { ServerResponse } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { until } from '../../harness/until.ts';
import { clientOf, listing, portOf, running, served } from './served.ts';

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';

test.each<[fault: string, code: string, response: string, end?: 'end' | 'resetAndDestroy']>([
  ['a close before the response', 'network', '', 'end'],
  ['a reset before the response', 'network', '', 'resetAndDestroy'],
  ['a cut in the body', 'network', `${HEAD}content-length: 100\r\n\r\n{"items":[`, 'end'],
  ['a chunked body without its end', 'network', `${HEAD}transfer-encoding: chunked\r\n\r\n5\r\n{"a":\r\n`, 'end'],
  ['a chunk without a size', 'network', `${HEAD}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`],
  ['no response', 'timeout', ''],
  ['a body that hangs', 'timeout', `${HEAD}content-length: 100\r\n\r\n{"items":[`],
  ['a response that is not HTTP', 'network', '220 mail.test ESMTP\r\n\r\n'],
  ['two lengths that differ', 'network', `${HEAD}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`],
  ['headers of 100 kB', 'network', `${HEAD}x: ${'y'.repeat(100_000)}\r\ncontent-length: 2\r\n\r\n{}`],
  ['100 Continue', 'network', `HTTP/1.1 100 Continue\r\n\r\n${HEAD}content-length: 2\r\n\r\n{}`],
  ['101 Switching Protocols', 'network', 'HTTP/1.1 101 x\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
  ['103 Early Hints without a response', 'timeout', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
])('%s is counted as %s, and the next request gets its response', async (_, code, text, end) => {
  let requests = 0;
  const { client, clock, codes, failure } = await served(({ socket }, response) => {
    requests += 1;
    if (requests > 1) response.end('[1]');
    else socket.write(text, () => end && socket[end]());
  });
  const failed = failure();
  if (code === 'timeout') {
    await until('the request', () => requests === 1);
    await clock.advance(30_000);
  }
  expect((await failed).code).toBe(code);
  expect(await client.send(listing, running)).toEqual([1]);
  expect(codes()).toEqual([code, '200']);
});

test('a response after early hints, or with which the connection ends, is a response', async () => {
  const { client } = await served((_, response) => {
    response.writeEarlyHints({ link: '</x>; rel=preload' });
    response.once('finish', () => response.socket?.destroySoon()).end('[1]');
  });
  for (const _ of [1, 2, 3]) expect(await client.send(listing, running)).toEqual([1]);
});

test('the time limit is for the whole response: one byte a second does not lengthen it', async () => {
  const responses: ServerResponse[] = [];
  const { clock, codes, failure } = await served((_, response) => void responses.push(response.writeHead(200)));
  const failed = failure();
  await until('the request', () => responses.length > 0);
  for (let second = 0; second < 29; second += 1) {
    responses[0]?.write(' ');
    await clock.advance(1_000);
  }
  expect(codes()).toEqual([]);
  await clock.advance(1_000);
  expect((await failed).message).toBe('GET /serials returned no complete response within 30000 ms');
  await until('the end of the connection', () => responses[0]?.destroyed);
});

test.each(['timeout', 'aborted'])('while a TLS handshake hangs, a request ends: %s', async (code) => {
  const sockets: Socket[] = [];
  const port = await portOf(createServer((socket) => sockets.push(socket)));
  const { clock, failure } = await clientOf(`https://127.0.0.1:${port}`);
  const stop = new AbortController();
  const failed = failure({}, stop.signal);
  await until('the connection', () => sockets.length > 0);
  if (code === 'aborted') stop.abort();
  else await clock.advance(30_000);
  expect((await failed).code).toBe(code);
  for (const socket of sockets) socket.destroy();
});

test.each([{}, { 'content-length': 2_000_000 }])('a body that is too large is abandoned: %j', async (headers) => {
  const responses: ServerResponse[] = [];
  const { failure } = await served((_, response) => {
    const writeMore = () => void (response.writable && response.write(Buffer.alloc(65_536, ' '), writeMore));
    responses.push(response.writeHead(200, headers));
    if ('content-length' in headers) response.flushHeaders();
    else writeMore();
  });
  expect((await failure()).code).toBe('oversize');
  await until('the end of the connection', () => responses[0]?.destroyed);
});

const CANARY = 'canary-5ec1e7-and-more';

test.each([
  ['a cut body', 'network', `${HEAD}content-length: 99\r\n\r\n["${CANARY}`],
  ['a redirect', '302', `HTTP/1.1 302 ${CANARY}\r\nlocation: https://${CANARY}.test/?${CANARY}\r\n\r\n`],
  ['no JSON', 'invalid', `${HEAD}content-length: 22\r\n\r\n${CANARY}`],
  ['an echo', '401', `HTTP/1.1 401 ${CANARY}\r\nx-echo: ${CANARY}\r\ncontent-length: 2000\r\n\r\n{"message":"ECHO"}`],
])('[canary] nothing on the error of a failed request is a secret: %s', async (_, code, text) => {
  const port = await portOf(
    createServer((socket) => {
      socket
        .on('error', () => {})
        .once('data', (request) => {
          const echo = JSON.stringify(String(request)).slice(1, -1);
          socket.end(text.replace('ECHO', echo).padEnd(text.includes('ECHO') ? 2_100 : 0));
        });
    }),
  );
  const { failure } = await clientOf(`http://127.0.0.1:${port}`);
  const secrets = { authorization: () => `Bearer ${CANARY}`, form: { client_secret: CANARY } };
  const error = await failure({ method: 'POST', path: '/auth/token', ...secrets });
  expect(error.code).toBe(code);
  expect([...textsOf(error)].filter((each) => each.includes(CANARY))).toEqual([]);
});

/** Every text that can be reached from a value, also by hidden properties. */
function* textsOf(value: unknown, seen = new Set<unknown>()): Generator<string> {
  if (typeof value === 'string') yield value;
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return;
  seen.add(value);
  if (Buffer.isBuffer(value)) yield value.toString('latin1');
  for (const key of Reflect.ownKeys(value)) yield* textsOf(Reflect.getOwnPropertyDescriptor(value, key)?.value, seen);
}
