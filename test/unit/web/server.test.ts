import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Agent, createServer, type IncomingHttpHeaders, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ResponseBody } from '../../../src/exposition/body.ts';
import type { Format } from '../../../src/exposition/format.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { AccessControl } from '../../../src/web/access-control.ts';
import { readInParts } from '../../../src/web/connections.ts';
import { type Compare, PasswordChecker } from '../../../src/web/passwords.ts';
import { Page } from '../../../src/web/responses.ts';
import { type Pages, WebServer } from '../../../src/web/server.ts';
import { readWebRules, type WebRules } from '../../../src/web/web-config.ts';
import { certificatePath } from '../../harness/certificates.ts';
import { keptLog } from '../../harness/kept-log.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { until } from '../../harness/until.ts';

const EXPOSITION = 'a{l="ü"} 1\n';
const GET_METRICS = 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n';

/** More than the buffers of a connection hold. */
const LARGE = Array.from({ length: 200 }, (_, part) => Buffer.alloc(100_000, part));

const NO_RULES: WebRules = { tls: undefined, headers: {}, users: new Map(), rateLimit: undefined, ownFiles: [] };
const USERS = new Map(['1', '2', '3', '4', '5', '6'].map((name) => [`user${name}`, 'hash']));

function bodyOf(buffers: readonly Buffer[]): ResponseBody {
  return { length: buffers.reduce((sum, { length }) => sum + length, 0), buffers: () => buffers };
}

interface Settings extends Partial<Pages> {
  readonly clock?: ManualClock;
  readonly rules?: Partial<WebRules>;
  readonly compare?: Compare;
  readonly metricsPath?: string;
}

/** A server on a free port, which ends with the test. */
async function serve({ clock, rules, compare = async () => true, metricsPath = '/metrics', ...pages }: Settings = {}) {
  const { log, lines } = keptLog();
  const environment = { clock: clock ?? systemClock, log };
  const page = (text: string) => () => new Page({ 'content-type': 'text/html' }, text);
  const passwords = new PasswordChecker(compare, Buffer.alloc(32, 1));
  const server = new WebServer({
    host: '127.0.0.1',
    port: 0,
    metricsPath,
    access: rules && new AccessControl({ ...NO_RULES, ...rules }, passwords, environment),
    pages: {
      exposition: async (format: Format, gzip: boolean) =>
        new Page({}, format === 'text' ? EXPOSITION : `${EXPOSITION}# EOF\n`).body(gzip),
      ready: () => true,
      statusPage: (query) => new Page({ 'content-type': 'text/html' }, `status of ${query}`),
      statusJson: page('{}'),
      landingPage: page('landing'),
      ...pages,
    },
    ...environment,
  });
  const port = await server.listen();
  onTestFinished(() => server.close(AbortSignal.abort()));
  return { server, port, lines, get: (path = '/metrics', sent: Sent = {}) => get(port, path, sent) };
}

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly agent?: Agent;
}

interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Sends a request, on a connection of its own if no agent is given, and reads the whole response. */
function get(port: number, path: string, { method = 'GET', headers = {}, agent }: Sent): Promise<Received> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, method, headers, agent: agent ?? (false as const) };
    const sent = request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) });
      });
    });
    sent.on('error', reject).end();
  });
}

/** A connection by hand, which is not read until `received` is called. */
async function open(port: number, bytes = ''): Promise<{ readonly socket: Socket; readonly received: () => string }> {
  const socket = connect(port, '127.0.0.1').pause();
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.write(bytes);
  let text = '';
  socket.setEncoding('latin1').on('data', (more: string) => {
    text += more;
  });
  socket.pause();
  const received = () => {
    socket.resume();
    return text;
  };
  return { socket, received };
}

/** A server whose expositions come when the test says so. */
async function waiting(settings: Settings = {}) {
  const finishes: (() => void)[] = [];
  const exposition = () =>
    new Promise<ResponseBody>((resolve) => finishes.push(() => resolve(bodyOf([Buffer.from(EXPOSITION)]))));
  return { ...(await serve({ exposition, ...settings })), finishes };
}

/** Resolves when the server has closed all of these connections. */
async function allClosed(clients: readonly { readonly socket: Socket }[]): Promise<void> {
  for (const { socket } of clients) socket.resume();
  await until('the end of the connections', () => clients.every(({ socket }) => socket.destroyed));
}

describe('a request', () => {
  test.each([
    ['text', {}, 'text/plain; version=0.0.4; charset=utf-8', EXPOSITION],
    [
      'OpenMetrics',
      { accept: 'application/openmetrics-text;version=1.0.0' },
      'application/openmetrics-text; version=1.0.0; charset=utf-8',
      `${EXPOSITION}# EOF\n`,
    ],
  ])(
    'for /metrics gets %s, compressed if it accepts that, and without a body for HEAD',
    async (_, headers, type, text) => {
      const server = await serve();
      const plain = await server.get('/metrics', { headers });
      expect([plain.status, plain.headers['content-type'], plain.body.toString()]).toEqual([200, type, text]);
      expect(plain.headers).toMatchObject({ 'content-length': `${plain.body.length}`, 'cache-control': 'no-store' });
      const compressed = await server.get('/metrics', { headers: { ...headers, 'accept-encoding': 'gzip' } });
      expect([compressed.headers['content-encoding'], gunzipSync(compressed.body).toString()]).toEqual(['gzip', text]);
      const { date: _date, ...sameHeaders } = plain.headers;
      const head = await server.get('/metrics', { headers, method: 'HEAD' });
      expect([head.headers, head.body.length]).toMatchObject([sameHeaders, 0]);
    },
  );

  test.each([
    ['/', 200, 'landing'],
    ['/?from=here', 200, 'landing'],
    ['/status?show=down&filter=a%20b', 200, 'status of show=down&filter=a%20b'],
    ['/api/v1/status', 200, '{}'],
    ['/healthz', 200, 'ok\n'],
    ['/-/healthy', 200, 'ok\n'],
    ['/readyz', 200, 'ready\n'],
    ['/metrics?x=1', 200, EXPOSITION],
    ['http://exporter/metrics', 200, EXPOSITION],
    ['HTTPS://exporter:9989/status?show=up', 200, 'status of show=up'],
    ['http://exporter', 200, 'landing'],
    ['/%6Detrics', 200, EXPOSITION],
    ['http://exporter/%6d%65trics?x', 200, EXPOSITION],
    ['/metric', 404, 'not found; / lists the pages\n'],
    ['/metrics/', 404, 'not found; / lists the pages\n'],
    ['//metrics', 404, 'not found; / lists the pages\n'],
    ['/%', 404, 'not found; / lists the pages\n'],
    ['/constructor', 404, 'not found; / lists the pages\n'],
    ['*', 404, 'not found; / lists the pages\n'],
  ])('for %s gets %d', async (path, status, text) => {
    const response = await (await serve()).get(path);
    expect([response.status, response.body.toString()]).toEqual([status, text]);
  });

  test('for a configured path gets the exposition, however the path is encoded', async () => {
    const server = await serve({ metricsPath: '/my%20metrics' });
    for (const path of ['/my%20metrics', '/m%79%20metrics']) expect((await server.get(path)).status).toBe(200);
    expect((await server.get('/metrics')).status).toBe(404);
  });

  test('before the first polls have ended is told so by /readyz only', async () => {
    const server = await serve({ ready: () => false });
    expect([(await server.get('/readyz')).status, (await server.get('/healthz')).status]).toEqual([503, 200]);
  });

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('with %s gets 405 for every page', async (method) => {
    const server = await serve();
    for (const path of ['/', '/metrics', '/status', '/healthz']) {
      const { status, headers } = await server.get(path, { method });
      expect([status, headers.allow]).toEqual([405, 'GET, HEAD']);
    }
  });

  test('that fails by a defect gets 500, and the log has the reason', async () => {
    const server = await serve({ exposition: () => Promise.reject(new TypeError('a defect')) });
    expect((await server.get()).status).toBe(500);
    expect(server.lines).toMatchObject([{ level: 'error', path: '/metrics', err: { message: 'a defect' } }]);
  });

  test('with a body, or that expects one to be asked for, gets its response, and its connection is closed', async () => {
    const { port } = await serve();
    for (const header of ['Content-Length: 5', 'Transfer-Encoding: chunked', 'Content-Length: 5\r\nExpect: x']) {
      const { socket, received } = await open(port, `GET /healthz HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n`);
      await until('the end of the connection', () => received() !== '' && socket.destroyed);
      expect(received()).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\nok\n$/s);
    }
  });
});

describe('a connection', () => {
  test('carries one scrape after another', async () => {
    const server = await serve();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    for (let scrapes = 0; scrapes < 3; scrapes += 1) {
      const { headers } = await server.get('/metrics', { agent });
      expect(headers).toMatchObject({ connection: 'keep-alive', 'keep-alive': 'timeout=130' });
    }
    expect(Object.values(agent.freeSockets).flat()).toHaveLength(1);
  });

  test.each(['', 'Expect: x\r\n', 'Expect: 100-continue\r\n'])(
    'is closed by a second request before the response to the first: %j',
    async (header) => {
      let scrapes = 0;
      const { port } = await serve({
        exposition: () => {
          scrapes += 1;
          return new Promise<never>(() => {});
        },
      });
      const second = `GET /metrics HTTP/1.1\r\nHost: x\r\n${header}\r\n`;
      const { socket, received } = await open(port, GET_METRICS + second.repeat(20_000));
      await until('the end of the connection', () => received() === '' && socket.destroyed);
      expect(scrapes).toBe(1);
    },
  );

  test('is read in small parts, because the parser creates an object for each request, also of a closed connection', async () => {
    let parsed = 0;
    const server = createServer((_, response) => {
      parsed += 1;
      response.req.socket.destroy();
    });
    server.on('connection', readInParts).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { socket, received } = await open((server.address() as AddressInfo).port, GET_METRICS.repeat(1_500));
    await until('the end of the connection', () => received() === '' && socket.destroyed);
    expect(parsed).toBeLessThan(60);
  });

  test('without a request gives way to a new one at the limit: the one that is unused for longest', async () => {
    const { server, port, get: scrape } = await serve();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const [first, second] = [await open(port), await open(port)];
    for (let more = 0; more < 253; more += 1) await open(port);
    await scrape('/metrics', { agent });
    await open(port);
    await until('the first to be closed', () => first.received() === '' && first.socket.destroyed);
    expect([second.socket.destroyed, server.closed.get('limit')]).toEqual([false, 1]);
    const { headers } = await scrape('/metrics', { agent });
    expect(headers.connection).toBe('keep-alive');
  });
});

test('TLS: a scraper that sends its next request at once keeps its connection', async () => {
  const folder = certificatePath('.');
  const rules = await readWebRules(join(folder, 'web.yml'), (path) =>
    path.endsWith('web.yml')
      ? Promise.resolve('tls_server_config: { cert_file: server.crt, key_file: server.key }')
      : readFile(path, 'utf8'),
  );
  if (rules.state === 'invalid') throw new Error(rules.errors.join('; '));
  const { port } = await serve({ rules: rules.rules, exposition: async () => bodyOf(LARGE.slice(0, 5)) });
  const script = `
    const https = require('node:https');
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
    let left = 30;
    const scrape = () => https.get({ host: '127.0.0.1', port: ${port}, path: '/metrics', agent, rejectUnauthorized: false }, (r) => {
      r.resume().on('end', () => (left -= 1) > 0 ? scrape() : process.exit(0));
    });
    scrape();`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'ignore', 'inherit'] });
  expect(await once(child, 'exit')).toEqual([0, null]);
});

describe('scrapes at once', () => {
  test('beyond 40 get 503, and other pages do not', async () => {
    const { get: scrape, finishes } = await waiting();
    const scrapes = Array.from({ length: 42 }, () => scrape());
    const rejected = await Promise.race(scrapes);
    expect([rejected.status, rejected.headers['retry-after']]).toEqual([503, '1']);
    expect((await scrape('/status')).status).toBe(200);
    for (const finish of finishes.splice(0)) finish();
    const statuses = (await Promise.all(scrapes)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(40);
  });

  test.each<[how: string, leave: (socket: Socket) => void]>([
    ['reset', (socket) => socket.resetAndDestroy()],
    ['closed', (socket) => socket.destroy()],
    ['half-closed', (socket) => socket.end()],
  ])('give their places back if connections are %s while the exposition is produced', async (_, leave) => {
    const { port, get: scrape, finishes } = await waiting();
    const clients = await Promise.all(Array.from({ length: 40 }, () => open(port, GET_METRICS)));
    await until('40 scrapes', () => finishes.length === 40);
    for (const { socket } of clients) leave(socket);
    await allClosed(clients);
    for (const finish of finishes.splice(0)) finish();
    const next = scrape();
    await until('the next scrape', () => finishes.length === 1);
    finishes[0]?.();
    expect((await next).status).toBe(200);
  });

  test.each<[how: string, request: string, leave: (socket: Socket) => void]>([
    ['reset', GET_METRICS, (socket) => socket.resetAndDestroy()],
    ['half-closed', GET_METRICS, (socket) => socket.end()],
    ['closed before the end of the header', GET_METRICS.slice(0, -2), (socket) => socket.destroy()],
  ])('give their places back if connections are %s while the password is checked', async (_, head, leave) => {
    const checks: (() => void)[] = [];
    const compare = () => new Promise<boolean>((resolve) => checks.push(() => resolve(true)));
    const { port, get: scrape } = await serve({ rules: { users: USERS }, compare });
    for (const user of USERS.keys()) {
      const authorization = `Basic ${Buffer.from(`${user}:geheim`).toString('base64')}`;
      const sent = head.replace('Host: x\r\n', `Host: x\r\nAuthorization: ${authorization}\r\n`);
      const clients = await Promise.all(Array.from({ length: 8 }, () => open(port, sent)));
      if (head === GET_METRICS) await until('the check', () => checks.length === 1);
      for (const { socket } of clients) leave(socket);
      await allClosed(clients);
      for (const finish of checks.splice(0)) finish();
    }
    // 48 clients have left: more than there are places.
    const authorization = `Basic ${Buffer.from('user1:geheim').toString('base64')}`;
    const next = scrape('/metrics', { headers: { authorization } });
    if (head !== GET_METRICS) await until('the check', () => checks.length === 1);
    checks[0]?.();
    expect((await next).status).toBe(200);
  });

  test('of which nothing is read give one place away after a second', async () => {
    const clock = new ManualClock();
    let scrapes = 0;
    const exposition = async () => {
      scrapes += 1;
      return bodyOf(LARGE);
    };
    const { server, port, get: scrape } = await serve({ clock, exposition });
    await Promise.all(Array.from({ length: 40 }, () => open(port, GET_METRICS)));
    await until('40 scrapes', () => scrapes === 40);
    expect((await scrape()).status).toBe(503);
    await until('the next scrape', async () => {
      await clock.advance(1_000);
      return (await scrape()).body.length === 20_000_000;
    });
    expect(server.closed.get('unread')).toBe(1);
  });

  test('are cut off if nothing is read for ten seconds', async () => {
    const clock = new ManualClock();
    const { port } = await serve({ clock, exposition: async () => bodyOf(LARGE) });
    const { socket, received } = await open(port, GET_METRICS);
    // One timer for the whole response, and one for the part that is not read.
    await until('the first part', () => clock.sleeping === 2);
    await until('the end of the connection', async () => {
      await clock.advance(10_000);
      return clock.sleeping === 0;
    });
    await until('the end of the connection', () => received() !== '' && socket.destroyed);
    expect(received().length).toBeLessThan(20_000_000);
  });

  test.each([
    ['the time-out that the scraper sends', 'X-Prometheus-Scrape-Timeout-Seconds: 10\r\n', 10_000],
    ['two minutes if it sends none', '', 120_000],
    ['two minutes if it sends more', 'X-Prometheus-Scrape-Timeout-Seconds: 1e9\r\n', 120_000],
  ])('end after %s', async (_, header, ms) => {
    const clock = new ManualClock();
    const { port, finishes } = await waiting({ clock });
    const { socket, received } = await open(port, `GET /metrics HTTP/1.1\r\nHost: x\r\n${header}\r\n`);
    await until('the scrape', () => finishes.length === 1);
    await clock.advance(ms - 1);
    expect(clock.sleeping).toBe(1);
    await clock.advance(1);
    await until('the end of the connection', () => received() === '' && socket.destroyed);
  });

  test('leave others their turn, however fast they are read', async () => {
    const { get: scrape } = await serve({ exposition: async () => bodyOf(LARGE) });
    let turns = 0;
    const count = () => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    expect((await scrape()).body.equals(Buffer.concat(LARGE))).toBe(true);
    clearImmediate(next);
    expect(turns).toBeGreaterThan(30);
  });
});

describe('access', () => {
  const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
  const rules = { users: new Map([['späher', 'hash']]) };
  const compare: Compare = async (password) => password === 'ge:heim';

  test('needs the password for every page but those for probes, whatever the form of the target', async () => {
    const { get: ask } = await serve({ rules, compare });
    const targets = [
      '/',
      '/metrics',
      '/status',
      '/nowhere',
      '//healthz',
      '/healthz/',
      '/HEALTHZ',
      '/healthz/../metrics',
    ];
    for (const target of [...targets, 'http://x/metrics', '/healthz%2F..%2Fmetrics', '/metrics?/healthz', '*']) {
      expect([target, (await ask(target)).status]).toEqual([target, 401]);
      expect([target, (await ask(target, { headers: basic('späher:ge:heim') })).status]).not.toEqual([target, 401]);
    }
    for (const target of ['/healthz', '/readyz?x', '/-/ready', 'http://x/healthz', '/%68ealthz']) {
      expect([target, (await ask(target)).status]).toEqual([target, 200]);
    }
    expect((await ask('/metrics')).headers['www-authenticate']).toBe('Basic realm="filer-exporter", charset="UTF-8"');
  });

  test.each([
    basic('späher:falsch'),
    basic('constructor:ge:heim'),
    basic('späher'),
    basic(`späher:${'g'.repeat(8_000)}`),
    { authorization: 'Bearer ge:heim' },
    { authorization: 'Basic %%%' },
  ])('is rejected with 401 for %j', async (headers) => {
    const { get: ask } = await serve({ rules, compare });
    expect((await ask('/metrics', { headers })).status).toBe(401);
  });

  test('is limited by rate_limit before the password is checked, and probes are not', async () => {
    const { get: ask } = await serve({ rules: { ...rules, rateLimit: { intervalMs: 3_600_000, burst: 2 } }, compare });
    const statuses: number[] = [];
    for (const path of ['/healthz', '/metrics', '/healthz', '/nowhere', '/metrics', '/healthz']) {
      statuses.push((await ask(path)).status);
    }
    expect(statuses).toEqual([200, 401, 200, 401, 429, 200]);
  });

  test('follows changed rules: idle connections end, others after their response', async () => {
    const { server, port, get: ask, finishes } = await waiting({ rules: {}, compare });
    const [idle, busy] = [await open(port), await open(port, GET_METRICS)];
    await until('the scrape', () => finishes.length === 1);
    server.adopt({ ...NO_RULES, ...rules, headers: { 'X-Frame-Options': 'deny' } });
    await until('the idle one to end', () => idle.received() === '' && idle.socket.destroyed);
    finishes[0]?.();
    await until('the other one to end', () => busy.received() !== '' && busy.socket.destroyed);
    expect(busy.received()).toContain('200 OK');
    const { status, headers } = await ask('/status');
    expect([status, headers['x-frame-options']]).toEqual([401, 'deny']);
  });
});

describe('a stop', () => {
  test('lets scrapes end, closes other connections and accepts no new ones', async () => {
    const { server, port, get: scrape, finishes } = await waiting();
    const idle = await open(port);
    const last = scrape();
    await until('the scrape', () => finishes.length === 1);
    const closing = server.close(new AbortController().signal);
    await until('the idle one to end', () => idle.received() === '' && idle.socket.destroyed);
    await expect(scrape('/healthz')).rejects.toThrow('ECONNREFUSED');
    finishes[0]?.();
    expect((await last).body.toString()).toBe(EXPOSITION);
    await closing;
  });

  test('cuts off what does not end in time', async () => {
    const { server, get: scrape } = await serve({ exposition: () => new Promise<never>(() => {}) });
    const last = expect(scrape()).rejects.toThrow();
    const late = new AbortController();
    const closing = server.close(late.signal);
    late.abort();
    await Promise.all([closing, last]);
  });
});
