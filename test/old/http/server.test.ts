// Only here: an answer of a path, a method or a header that is not as promised.
import type { ServerResponse } from 'node:http';
import { createServer, Server } from 'node:net';
import { Writable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import type { Format } from '../../src/exposition/format.ts';
import { sendBody } from '../../src/http/send-body.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { servedPort } from '../support/listening.ts';
import { exposition, large, serve, serving, sluggish } from './serving.ts';

const whole = Buffer.concat(exposition);
const openMetrics = { accept: 'application/openmetrics-text;version=1.0.0' };

describe('a scrape', () => {
  test('gets the exposition as text, with its length', async () => {
    const { ask } = await serve();
    const { status, headers, body } = await ask();
    expect([status, body.toString()]).toEqual([200, whole.toString()]);
    expect(headers).toMatchObject({
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
      'content-length': String(whole.length),
      'cache-control': 'no-store',
      vary: 'Accept, Accept-Encoding',
    });
  });

  test('gets OpenMetrics where it prefers that', async () => {
    const formats: Format[] = [];
    const { ask } = await serve({
      exposition: (format, gzip) => {
        formats.push(format);
        return serving([...exposition, Buffer.from('# EOF\n')])(format, gzip);
      },
    });
    const { headers, body } = await ask('/metrics', openMetrics);
    expect(headers['content-type']).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect([formats, body.toString().endsWith('\n# EOF\n')]).toEqual([['openmetrics'], true]);
  });

  test.each([
    ['gzip', true],
    ['br', false],
  ])('that accepts %j gets it packed: %s', async (encoding, packed) => {
    const { ask } = await serve();
    const { headers, body } = await ask('/metrics', { 'accept-encoding': encoding });
    expect(headers['content-encoding']).toBe(packed ? 'gzip' : undefined);
    expect((packed ? gunzipSync(body) : body).equals(whole)).toBe(true);
  });

  test.each([[{}], [{ 'accept-encoding': 'gzip' }], [openMetrics]])(
    'with HEAD has the headers of GET: %j',
    async (headers) => {
      const { ask } = await serve();
      const head = await ask('/metrics', headers, 'HEAD');
      const get = await ask('/metrics', headers);
      expect([head.status, head.body.length]).toEqual([200, 0]);
      const { date: _, 'transfer-encoding': __, ...same } = get.headers;
      expect(head.headers).toMatchObject(same);
    },
  );

  test('of nothing at all is an empty answer', async () => {
    const { ask } = await serve({ exposition: serving([]) });
    const { status, headers, body } = await ask();
    expect([status, headers['content-length'], body.length]).toEqual([200, '0', 0]);
  });

  test('of twenty megabytes arrives whole, packed or not', async () => {
    const { ask } = await serve({ exposition: serving(large) });
    const plain = await ask();
    expect(plain.body.equals(Buffer.concat(large))).toBe(true);
    const packed = await ask('/metrics', { 'accept-encoding': 'gzip' });
    expect(gunzipSync(packed.body).equals(plain.body)).toBe(true);
  });

  test('of twenty megabytes leaves others their turn, however quickly it is read', async () => {
    let now = 0;
    const clock = { ...systemClock, monotonic: () => now };
    function* slowly() {
      for (const buffer of large) {
        now += 1;
        yield buffer;
      }
    }
    let turns = 0;
    const turn = () => {
      turns += 1;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    await sendBody(new Writable({ write: (_bytes, _encoding, taken) => taken() }) as ServerResponse, slowly(), clock);
    clearImmediate(next);
    expect(turns).toBeGreaterThan(large.length / 4);
  });

  test('that cannot be served is told so, and the reason is in the log', async () => {
    const { ask, lines } = await serve({ exposition: () => Promise.reject(new TypeError('a defect')) });
    const { status, body } = await ask();
    expect([status, body.toString(), lines.take()]).toEqual([
      500,
      'internal error\n',
      ['error An internal error occurred while responding to a request: please report it.'],
    ]);
  });

  test('is answered under the configured path, whatever the query', async () => {
    const { ask } = await serve({}, { metricsPath: '/probe/filers' });
    expect((await ask('/probe/filers?x=1')).status).toBe(200);
    expect((await ask('/metrics')).status).toBe(404);
  });
});

describe('other requests', () => {
  test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])(
    '[guest-writes] %s is not allowed anywhere, and what is is said',
    async (method) => {
      const { ask } = await serve();
      for (const path of ['/metrics', '/', '/status', '/api/v1/status', '/healthz', '/readyz']) {
        const { status, headers } = await ask(path, {}, method);
        expect([status, headers.allow]).toEqual([405, 'GET, HEAD']);
      }
    },
  );

  test.each(['/metric', '/metrics/', '/constructor', '/__proto__', '/favicon.ico', '//'])(
    '%s is not found',
    async (path) => {
      const { ask } = await serve();
      const { status, body } = await ask(path);
      expect([status, body.toString()]).toEqual([404, 'not found; / lists the pages\n']);
    },
  );

  test.each<[string, boolean, number, string, string]>([
    ['/healthz', false, 200, 'text/plain; charset=utf-8', 'ok\n'],
    ['/-/healthy', false, 200, 'text/plain; charset=utf-8', 'ok\n'],
    ['/-/ready', true, 200, 'text/plain; charset=utf-8', 'ready\n'],
    ['/readyz', false, 503, 'text/plain; charset=utf-8', 'the first polls have not ended\n'],
    ['/readyz', true, 200, 'text/plain; charset=utf-8', 'ready\n'],
    ['/status', false, 200, 'text/html; charset=utf-8', '<!doctype html>status ü'],
    ['/api/v1/status', false, 200, 'application/json; charset=utf-8', '{"status":"ü"}'],
    ['/', false, 200, 'text/html; charset=utf-8', '<!doctype html>landing'],
    ['/?from=here', false, 200, 'text/html; charset=utf-8', '<!doctype html>landing'],
  ])('%s (ready: %s) is answered %d', async (path, ready, status, type, text) => {
    const { ask } = await serve({ ready: () => ready });
    const get = await ask(path);
    expect([get.status, get.headers['content-type'], get.body.toString()]).toEqual([status, type, text]);
    const head = await ask(path, {}, 'HEAD');
    expect([head.status, head.headers['content-length'], head.body.length]).toEqual([
      status,
      String(get.body.length),
      0,
    ]);
  });

  test('pages come with the policy of their own, are kept by nobody, and taken for nothing else', async () => {
    const { ask } = await serve();
    const { headers } = await ask('/status');
    expect(headers).toMatchObject({
      'content-security-policy': "default-src 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
  });

  test('pages are packed for who takes gzip, and are the same text then', async () => {
    const { ask } = await serve();
    const { headers, body } = await ask('/status', { 'accept-encoding': 'br, gzip' });
    expect([headers['content-encoding'], headers.vary]).toEqual(['gzip', 'Accept-Encoding']);
    expect(headers['content-length']).toBe(String(body.length));
    expect(gunzipSync(body).toString()).toBe('<!doctype html>status ü');
  });

  test('that are no HTTP end their connection and nothing else', async () => {
    const { port, ask } = await serve();
    const socket = await sluggish(port, 'nonsense\r\n\r\n');
    socket.resume();
    await new Promise((resolve) => socket.once('close', resolve));
    expect((await ask()).status).toBe(200);
  });

  test('an address in use is an error at the start', async () => {
    const taken = createServer();
    await expect(serve({}, { port: await servedPort(taken) })).rejects.toThrow('EADDRINUSE');
  });
});

test('a machine that is short of files for connections does not end the server, and is told of once', async () => {
  const listening = vi.spyOn(Server.prototype, 'listen');
  const { ask, lines } = await serve();
  const server = listening.mock.contexts[0] as Server | undefined;
  listening.mockRestore();
  const short = Object.assign(new Error('accept ENFILE'), { code: 'ENFILE' });
  for (let times = 0; times < 3; times += 1) server?.emit('error', short);
  expect(lines.take()).toEqual([
    'error A connection could not be accepted: the machine may be out of files or memory.',
  ]);
  expect((await ask()).status).toBe(200);
  server?.emit('error', short);
  expect(lines.take()).toEqual([
    'error A connection could not be accepted: the machine may be out of files or memory.',
  ]);
});
