import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { type Exchange, type Spoil, send } from '../support/front.ts';

/**
 * How an exporter takes a fault. `fails`: the request brings nothing and is a failure. `harmless`: there is an answer,
 * odd or poor. `held`: it is told to wait.
 */
export type Kind = 'fails' | 'harmless' | 'held';

/** One fault: how an answer is spoiled, and how that is to be counted. */
export interface Effect {
  readonly name: string;
  readonly kind: Kind;
  /** The label `code` under which it is counted. */
  readonly code: string;
  /** Whoever else is about to use the same connection may find it gone, which is counted as well and tried again. */
  readonly breaksConnection?: boolean;
  readonly spoil: Spoil;
}

const MEGABYTE = 1_048_576;
const FIFTY_MEGABYTES = 50 * MEGABYTE;

// Made once, and packed well: a hundred megabytes of blanks.
const bomb = gzipSync(Buffer.alloc(100 * MEGABYTE, ' '));

function raw(...pieces: readonly (string | Buffer)[]): Spoil {
  return ({ socket }) => {
    for (const piece of pieces) socket.write(piece);
  };
}

function body(content: string | Buffer, headers: Readonly<Record<string, string>> = {}): Spoil {
  return ({ response }) => {
    const bytes = Buffer.from(content);
    const length = { 'content-type': 'application/json', 'content-length': String(bytes.length) };
    response.writeHead(200, { ...length, ...headers }).end(bytes);
  };
}

/** The service's own answer, changed. */
function changed(change: (text: string) => string, headers: Readonly<Record<string, string>> = {}): Spoil {
  return async ({ ask, response }) => {
    const answer = await ask();
    const bytes = Buffer.from(change(answer.body.toString('utf8')));
    const length = { 'content-length': String(bytes.length) };
    send(response, { ...answer, headers: { ...answer.headers, ...length, ...headers }, body: bytes });
  };
}

async function* endless(chunk: Buffer, bytes: number) {
  for (let sent = 0; sent < bytes; sent += chunk.length) yield chunk;
}

async function pour({ response }: Exchange, bytes: number, chunk: Buffer): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' });
  for await (const piece of endless(chunk, bytes)) {
    if (response.destroyed) return;
    if (!response.write(piece)) await drained(response);
  }
  response.end();
}

/** Resolves when more may be written, or nothing any more. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      response.off('drain', go).off('close', go);
      resolve();
    };
    response.on('drain', go).on('close', go);
  });
}

async function drip({ response }: Exchange): Promise<void> {
  response.writeHead(200, { 'content-length': 1_000 });
  for (let byte = 0; byte < 1_000 && !response.destroyed; byte += 1) {
    response.write('[');
    await new Promise((resolve) => setTimeout(resolve, 1_000).unref());
  }
}

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';

function fails(name: string, code: string, spoil: Spoil): Effect {
  return { name, kind: 'fails', code, spoil };
}

function harmless(name: string, spoil: Spoil): Effect {
  return { name, kind: 'harmless', code: '200', spoil };
}

const onTheWay: readonly Effect[] = [
  fails('a reset before the answer', 'network', ({ socket }) => socket.resetAndDestroy()),
  fails('a close before the answer', 'network', ({ socket }) => socket.end()),
  fails('a reset in the middle of the body', 'network', ({ socket }) => {
    socket.write(`${HEAD}content-length: 100\r\n\r\n{"items":[`, () => socket.resetAndDestroy());
  }),
  fails('a chunked body without its end', 'network', ({ socket }) =>
    socket.end(`${HEAD}transfer-encoding: chunked\r\n\r\n5\r\n{"a":\r\n`),
  ),
  fails('a chunk without a size', 'network', raw(`${HEAD}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`)),
  fails('no answer to the request', 'timeout', () => {}),
  fails('headers that do not end', 'timeout', raw(HEAD)),
  fails('a body that does not go on', 'timeout', raw(`${HEAD}content-length: 100\r\n\r\n{"items":[`)),
  fails('one byte a second', 'timeout', drip),
  fails('an answer that is no HTTP', 'network', raw('220 mail.test ESMTP\r\n\r\n')),
  fails('two lengths that differ', 'network', raw(`${HEAD}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`)),
  fails(
    'headers of a hundred kilobytes',
    'network',
    raw(`${HEAD}x: ${'y'.repeat(100_000)}\r\ncontent-length: 2\r\n\r\n{}`),
  ),
  fails('100 Continue that nobody asked for', 'network', ({ socket }) => {
    socket.write(`HTTP/1.1 100 Continue\r\n\r\n${HEAD}content-length: 2\r\n\r\n{}`);
  }),
  fails(
    '101 Switching Protocols',
    'network',
    raw('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
  ),
  fails('103 Early Hints without an answer behind it', 'timeout', raw('HTTP/1.1 103 Early Hints\r\n\r\n')),
  harmless('103 Early Hints before the answer', async ({ response, ask }) => {
    response.writeEarlyHints({ link: '</x>; rel=preload' });
    send(response, await ask());
  }),
  {
    ...harmless('a connection that dies with its answer', async ({ response, socket, ask }) => {
      response.once('finish', () => socket.destroySoon());
      send(response, await ask());
    }),
    breaksConnection: true,
  },
  harmless('an answer that says close and stays', async ({ response, ask }) => {
    const answer = await ask();
    response.writeHead(answer.status, { ...answer.headers, connection: 'close' }).end(answer.body);
  }),
];

const inTheBody: readonly Effect[] = [
  fails('an empty body', 'invalid', body('')),
  fails('a page in HTML', 'invalid', body('<!doctype html><title>Sign in</title>', { 'content-type': 'text/html' })),
  fails('half of a JSON text', 'invalid', body('{"items": [{"time": 1')),
  fails('JSON with something behind it', 'invalid', body('{"items": []} {}')),
  fails('null', 'invalid', body('null')),
  fails('a list', 'invalid', body('[]')),
  fails('fifty megabytes, announced', 'oversize', (exchange) => {
    exchange.response.writeHead(200, { 'content-length': FIFTY_MEGABYTES }).write(Buffer.alloc(MEGABYTE, ' '));
  }),
  fails('fifty megabytes, unannounced', 'oversize', (exchange) =>
    pour(exchange, FIFTY_MEGABYTES, Buffer.alloc(MEGABYTE, ' ')),
  ),
  fails('a million lists in each other', 'invalid', body('['.repeat(1_000_000) + ']'.repeat(1_000_000))),
  fails('a million objects that do not end', 'invalid', body('{"a":'.repeat(400_000))),
  fails('bytes that are no UTF-8', 'invalid', body(Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]))),
  fails('a gzip bomb', 'oversize', body(bomb, { 'content-encoding': 'gzip' })),
  fails('gzip that is none', 'invalid', body('{"items": []}', { 'content-encoding': 'gzip' })),
  fails(
    'gzip without its end',
    'invalid',
    body(gzipSync('{"items": []}').subarray(0, 15), { 'content-encoding': 'gzip' }),
  ),
  fails('a packing that nobody asked for', 'invalid', body('{"items": []}', { 'content-encoding': 'br' })),
  harmless(
    'duplicate keys',
    changed((text) => text.replace('{', '{"items":7,"info":7,"access_token":7,')),
  ),
  harmless(
    'keys with the language’s own names',
    changed((text) =>
      text.replace(
        '{',
        '{"__proto__":{"items":[],"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":null,',
      ),
    ),
  ),
  harmless(
    'a wrong content type',
    changed((text) => text, { 'content-type': 'text/html; charset=utf-16' }),
  ),
  harmless(
    'a byte order mark',
    changed((text) => `\ufeff${text}`),
  ),
];

function status(code: number, headers: Readonly<Record<string, string>> = {}): Spoil {
  return ({ response }) => {
    const message = '{"message":"told so by the test"}';
    response.writeHead(code, { 'content-type': 'application/json', 'content-length': message.length, ...headers });
    response.end(code === 304 ? '' : message);
  };
}

/** One of each that is taken in another way; transport/ has the others. */
const REFUSING = [400, 401, 403, 404, 408, 413, 422, 500, 503, 504] as const;

const statuses: readonly Effect[] = REFUSING.map((code) => fails(`${code}`, String(code), status(code)));

const RETRY_AFTER: Readonly<Record<string, () => Readonly<Record<string, string>>>> = {
  'seconds in Retry-After': () => ({ 'retry-after': '2' }),
  'a date in Retry-After': () => ({ 'retry-after': new Date(Date.now() + 2_000).toUTCString() }),
  'nonsense in Retry-After': () => ({ 'retry-after': 'soon' }),
  'no Retry-After': () => ({}),
};

const refusals: readonly Effect[] = Object.entries(RETRY_AFTER).map(([name, headers]) => ({
  name: `429 with ${name}`,
  kind: 'held',
  code: '429',
  spoil: (exchange, front) => status(429, headers())(exchange, front),
}));

/** A Retry-After of days: the exporter believes a quarter of an hour of it, which no test waits for. */
export const hugeRetryAfter: Effect = {
  name: '429 with a huge Retry-After',
  kind: 'held',
  code: '429',
  spoil: status(429, { 'retry-after': '99999999999' }),
};

/** A redirect that changes the method and one that keeps it, to a host that must never be asked. */
export function redirects(elsewhere: () => string): readonly Effect[] {
  return [302, 308].map((code) =>
    fails(`${code} to another host`, String(code), (exchange, front) =>
      status(code, { location: elsewhere() })(exchange, front),
    ),
  );
}

/** Every fault of a single answer that is the same whatever was asked. */
export const effects: readonly Effect[] = [...onTheWay, ...inTheBody, ...statuses, ...refusals];
