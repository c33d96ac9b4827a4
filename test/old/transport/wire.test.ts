// Only here: every way in which a connection can spoil a response. What is in a whole one is in read-json.test.ts, and what
// follows from a code in test/lives/outages.test.ts.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { settle } from '../support/manual-clock.ts';
import { type Bench, listening, listing, onwards, served } from './polite.ts';

const ANSWER = { items: [{ serial_number: 'a', nothing: null }] };
const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';

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

/** The service's own answer. */
const answer =
  (headers: Readonly<Record<string, string>> = {}): Spoil =>
  ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(ANSWER));
  };

const rows: readonly Row[] = [
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
    else answer()({ request, response, socket: request.socket });
  });
  expect(await codeOf(wires, code)).toBe(code);
  expect(await wires.client.send(listing, onwards)).toEqual(ANSWER);
});

test.each<readonly [name: string, spoil: Spoil]>([
  [
    '103 Early Hints before it',
    (exchange) => {
      exchange.response.writeEarlyHints({ link: '</x>; rel=preload' });
      answer()(exchange);
    },
  ],
  [
    'a connection that ends with it',
    (exchange) => {
      exchange.response.once('finish', () => exchange.socket.destroySoon());
      answer()(exchange);
    },
  ],
  ['the header connection: close', answer({ connection: 'close' })],
])('an answer with %s is an answer', async (_, spoil) => {
  const { client, ears } = await served((request, response) => spoil({ request, response, socket: request.socket }));
  expect(await client.send(listing, onwards)).toMatchObject(ANSWER);
  expect(ears.codes).toEqual(['200']);
});

test('[redirects] a redirect to another host is not followed', async () => {
  const followed: string[] = [];
  const elsewhere = createServer((request, response) => {
    followed.push(request.url ?? '');
    response.end('{}');
  });
  const location = `${await listening(elsewhere)}/elsewhere`;
  const wires = await served((_, response) => void response.writeHead(308, { location }).end());
  expect(await codeOf(wires, '308')).toBe('308');
  for (let turns = 0; turns < 100; turns += 1) await settle();
  expect(followed).toEqual([]);
});
