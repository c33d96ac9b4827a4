// Only here: every way in which a connection can spoil a response. What is in a whole one is in read-json.test.ts, and what
// follows from a code in test/app/faults.test.ts.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { createDispatcher } from '../../src/transport/dispatcher.ts';
import { settle } from '../support/manual-clock.ts';
import { type Bench, bench, listening, listing, onwards, served } from './polite.ts';

const ANSWER = { items: [{ serial_number: 'a', nothing: null }] };
const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
const MEGABYTE = 1_048_576;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly socket: Socket;
}

/** What a service does in the place of answering. */
type Spoil = (exchange: Exchange) => void;

/** The name of a fault, the label `code` that counts it, and what the service does. */
type Row = readonly [name: string, code: string, spoil: Spoil];

const raw =
  (...pieces: readonly (string | Buffer)[]): Spoil =>
  ({ socket }) => {
    for (const piece of pieces) socket.write(piece);
  };

const body =
  (content: string | Buffer, headers: Readonly<Record<string, string>> = {}, status = 200): Spoil =>
  ({ response }) => {
    const bytes = Buffer.from(content);
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length, ...headers });
    response.end(status === 304 ? undefined : bytes);
  };

/** The service's own answer, changed. */
const changed = (change: (text: string) => string, headers: Readonly<Record<string, string>> = {}): Spoil =>
  body(change(JSON.stringify(ANSWER)), headers);

function pour({ response }: Exchange): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const chunk = Buffer.alloc(MEGABYTE, ' ');
  let left = 50;
  const more = () => {
    while (left > 0 && !response.destroyed) {
      left -= 1;
      if (!response.write(chunk)) return void response.once('drain', more);
    }
    response.end();
  };
  more();
}

const rows: readonly Row[] = [
  ['a reset before the answer', 'network', ({ socket }) => socket.resetAndDestroy()],
  ['a close before the answer', 'network', ({ socket }) => socket.end()],
  [
    'a reset in the middle of the body',
    'network',
    ({ socket }) => socket.write(`${HEAD}content-length: 100\r\n\r\n{"items":[`, () => socket.resetAndDestroy()),
  ],
  [
    'a chunked body without its end',
    'network',
    ({ socket }) => socket.end(`${HEAD}transfer-encoding: chunked\r\n\r\n5\r\n{"a":\r\n`),
  ],
  ['a chunk without a size', 'network', raw(`${HEAD}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`)],
  ['no answer to the request', 'timeout', () => {}],
  ['headers that do not end', 'timeout', raw(HEAD)],
  ['a body that does not go on', 'timeout', raw(`${HEAD}content-length: 100\r\n\r\n{"items":[`)],
  ['an answer that is not HTTP', 'network', raw('220 mail.test ESMTP\r\n\r\n')],
  ['two lengths that differ', 'network', raw(`${HEAD}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`)],
  ['headers of a hundred kilobytes', 'network', raw(`${HEAD}x: ${'y'.repeat(100_000)}\r\ncontent-length: 2\r\n\r\n{}`)],
  [
    '100 Continue that nobody requested',
    'network',
    raw(`HTTP/1.1 100 Continue\r\n\r\n${HEAD}content-length: 2\r\n\r\n{}`),
  ],
  [
    '101 Switching Protocols',
    'network',
    raw('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
  ],
  ['103 Early Hints without an answer behind it', 'timeout', raw('HTTP/1.1 103 Early Hints\r\n\r\n')],
  ['a page in HTML', 'invalid', body('<!doctype html><title>Sign in</title>', { 'content-type': 'text/html' })],
  ['half of a JSON text', 'invalid', body('{"items": [{"time": 1')],
  [
    'fifty megabytes, announced',
    'oversize',
    ({ response }) =>
      void response.writeHead(200, { 'content-length': 50 * MEGABYTE }).write(Buffer.alloc(MEGABYTE, ' ')),
  ],
  ['fifty megabytes, unannounced', 'oversize', pour],
  ['a gzip bomb', 'oversize', body(gzipSync(Buffer.alloc(10 * MEGABYTE, ' ')), { 'content-encoding': 'gzip' })],
  ['gzip without its end', 'invalid', body(gzipSync('{"items": []}').subarray(0, 15), { 'content-encoding': 'gzip' })],
  ...[304, 429, 503].map((status): Row => {
    return [`status ${status}`, String(status), body('{"message":"written by the test"}', {}, status)];
  }),
];

/** The code that a request ends with. */
async function codeOf({ clock, failure, ears }: Bench, wanted: string): Promise<string> {
  const ended = failure();
  for (let turns = 0; ears.codes.length === 0; turns += 1) {
    await settle();
    if (wanted === 'timeout' && turns % 500 === 499) await clock.advance(31_000);
  }
  expect((await ended).code).toBe(ears.codes[0]);
  return ears.codes[0] ?? '';
}

test.each(rows)('%s is counted as %s, and the next request has its answer', async (_, code, spoil) => {
  let requests = 0;
  const wires = await served((request, response) => {
    requests += 1;
    if (requests === 1) spoil({ request, response, socket: request.socket });
    else body(JSON.stringify(ANSWER))({ request, response, socket: request.socket });
  });
  expect(await codeOf(wires, code)).toBe(code);
  expect(await wires.client.send(listing, onwards)).toEqual(ANSWER);
});

test.each<readonly [name: string, spoil: Spoil]>([
  [
    '103 Early Hints before it',
    (exchange) => {
      exchange.response.writeEarlyHints({ link: '</x>; rel=preload' });
      changed((text) => text)(exchange);
    },
  ],
  [
    'a connection that ends with it',
    (exchange) => {
      exchange.response.once('finish', () => exchange.socket.destroySoon());
      changed((text) => text)(exchange);
    },
  ],
  ['the header connection: close', changed((text) => text, { connection: 'close' })],
  ['duplicate keys', changed((text) => text.replace('{', '{"items":7,'))],
  [
    'keys with names of the language',
    changed((text) => text.replace('{', '{"__proto__":{"items":[],"polluted":1},"toString":null,')),
  ],
  ['a wrong content type', changed((text) => text, { 'content-type': 'text/html; charset=utf-16' })],
  ['a byte order mark', changed((text) => `\ufeff${text}`)],
])('an answer with %s is an answer', async (_, spoil) => {
  const { client, ears } = await served((request, response) => spoil({ request, response, socket: request.socket }));
  expect(await client.send(listing, onwards)).toMatchObject(ANSWER);
  expect(ears.codes).toEqual(['200']);
  expect(({} as { polluted?: number }).polluted).toBeUndefined();
});

test.each([302, 308])('a redirect (%d) to another host is not followed', async (status) => {
  const followed: string[] = [];
  const elsewhere = createServer((request, response) => {
    followed.push(request.url ?? '');
    response.end('{}');
  });
  const location = `${await listening(elsewhere)}/elsewhere`;
  const wires = await served((_, response) => void response.writeHead(status, { location }).end());
  expect(await codeOf(wires, String(status))).toBe(String(status));
  for (let turns = 0; turns < 100; turns += 1) await settle();
  expect(followed).toEqual([]);
});

test('a service that does not listen is counted as network, with the reason', async () => {
  const gone = createServer();
  const url = await listening(gone);
  await new Promise((resolve) => gone.close(resolve));
  const dispatcher = createDispatcher(undefined);
  onTestFinished(() => dispatcher.destroy());
  const error = await bench(url, dispatcher).failure();
  expect(error).toMatchObject({ code: 'network', message: expect.stringContaining('ECONNREFUSED') });
});
