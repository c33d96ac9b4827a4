import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, createServer, type IncomingHttpHeaders, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ResponseBody } from '../../../src/exposition/format.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { AccessControl } from '../../../src/web/access-control.ts';
import { readInParts } from '../../../src/web/connections.ts';
import { type Compare, PasswordChecker } from '../../../src/web/passwords.ts';
import { textBody } from '../../../src/web/responses.ts';
import { type Pages, WebServer } from '../../../src/web/server.ts';
import { tlsRules } from '../../../src/web/tls.ts';
import type { WebRules } from '../../../src/web/web-config.ts';
import { certificateText } from '../../harness/certificates.ts';
import { keptLog } from '../../harness/kept-log.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { until } from '../../harness/until.ts';

const EXPOSITION = 'a{l="ü"} 1\n';
const GET_METRICS = 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n';

/** More than the buffers of a connection hold. */
const LARGE = Array.from({ length: 200 }, (_, part) => Buffer.alloc(100_000, part));

function bodyOf(buffers: readonly Buffer[]): ResponseBody {
  return { length: buffers.reduce((sum, { length }) => sum + length, 0), buffers: () => buffers };
}

interface Settings extends Partial<Pages> {
  readonly clock?: ManualClock;
  readonly rules?: Partial<WebRules>;
  readonly compare?: Compare;
  readonly metricsPath?: string;
}

const NO_RULES: WebRules = { tls: undefined, headers: {}, users: new Map(), rateLimit: undefined };

/** A server on a free port, which ends with the test. */
async function serve({ clock, rules, compare, metricsPath = '/metrics', ...pages }: Settings = {}) {
  const { log, lines } = keptLog();
  const environment = { clock: clock ?? systemClock, log };
  const passwords = new PasswordChecker(
    compare ?? (async ({ password }) => password === 'ge:heim'),
    Buffer.alloc(32, 1),
  );
  const access = rules && new AccessControl({ ...NO_RULES, ...rules }, passwords, environment.clock);
  const page = (text: string) => ({ headers: { 'content-type': 'text/html' }, text });
  const served: Pages = {
    exposition: (format, gzip) => textBody(format === 'text' ? EXPOSITION : `${EXPOSITION}# EOF\n`, gzip),
    ready: () => true,
    statusPage: (query) => page(`status of ${query}`),
    statusJson: () => page('{}'),
    landingPage: () => page('landing'),
    ...pages,
  };
  const server = new WebServer({ host: '127.0.0.1', port: 0, metricsPath, access, pages: served, ...environment });
  const port = await server.listen();
  onTestFinished(() => server.close(AbortSignal.abort()));
  return { server, port, lines, get: (path = '/metrics', sent: Sent = {}) => get(port, path, sent) };
}

/** A server whose expositions come when the test says so. */
async function waiting(settings: Settings = {}) {
  const finishes: (() => void)[] = [];
  const exposition = () =>
    new Promise<ResponseBody>((resolve) => finishes.push(() => resolve(bodyOf([Buffer.from(EXPOSITION)]))));
  return { ...(await serve({ exposition, ...settings })), finishes };
}

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly agent?: Agent;
}

type Received = { readonly status: number | undefined; readonly headers: IncomingHttpHeaders; readonly body: Buffer };

/** Sends a request, on a connection of its own if no agent is given, and reads the whole response. */
function get(port: number, path: string, { agent, ...sent }: Sent): Promise<Received> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, agent: agent ?? (false as const), ...sent };
    const sending = request(options, (response) => {
      const { statusCode: status, headers } = response;
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
      response.on('end', () => resolve({ status, headers, body: Buffer.concat(chunks) }));
    });
    sending.on('error', reject).end();
  });
}

/** A connection by hand, which is not read before {@link closed} is called. */
async function open(port: number, bytes = ''): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').pause();
  onTestFinished(() => void socket.destroy());
  await once(
    socket.on('error', () => {}),
    'connect',
  );
  socket.write(bytes);
  return socket;
}

/** Reads connections until the server has closed them all, and returns what it sent on the first. */
async function closed(...sockets: readonly Socket[]): Promise<string> {
  let text = '';
  sockets[0]?.setEncoding('latin1').on('data', (more: string) => {
    text += more;
  });
  for (const socket of sockets) socket.resume();
  await until('the end of the connections', () => sockets.every(({ destroyed }) => destroyed));
  return text;
}

const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });

describe('a request', () => {
  test.each([
    ['text/plain; version=0.0.4; charset=utf-8', {}, EXPOSITION],
    [
      'application/openmetrics-text; version=1.0.0; charset=utf-8',
      { accept: 'application/openmetrics-text' },
      `${EXPOSITION}# EOF\n`,
    ],
  ])(
    'for /metrics gets %s, compressed if it accepts that, and without a body for HEAD',
    async (type, headers, text) => {
      const { get: ask } = await serve();
      const plain = await ask('/metrics', { headers });
      expect([plain.status, plain.headers['content-type'], plain.body.toString()]).toEqual([200, type, text]);
      const compressed = await ask('/metrics', { headers: { ...headers, 'accept-encoding': 'gzip' } });
      expect([compressed.headers['content-encoding'], gunzipSync(compressed.body).toString()]).toEqual(['gzip', text]);
      const page = await ask('/status?a', { headers: { ...headers, 'accept-encoding': 'gzip' } });
      expect(gunzipSync(page.body).toString()).toBe('status of a');
      const { date: _date, ...sameHeaders } = plain.headers;
      const head = await ask('/metrics', { headers, method: 'HEAD' });
      expect([head.headers, head.body.length]).toMatchObject([{ ...sameHeaders, 'cache-control': 'no-store' }, 0]);
    },
  );

  test.each([
    ['/ /?from=here http://exporter', 200, 'landing'],
    ['/status?show=a%20b HTTPS://exporter:9989/status?show=a%20b', 200, 'status of show=a%20b'],
    ['/healthz /-/healthy http://x/healthz /%68ealthz', 200, 'ok\n'],
    ['/metrics?x=1 http://exporter/metrics /%6Detrics http://exporter/%6d%65trics?x', 200, EXPOSITION],
    ['/metric /metrics/ //metrics /% /constructor /healthz/../metrics *', 404, 'not found; / lists the pages\n'],
  ])('for %s gets %d', async (targets, status, text) => {
    const { get: ask } = await serve();
    for (const target of targets.split(' ')) {
      const response = await ask(target);
      expect([target, response.status, response.body.toString()]).toEqual([target, status, text]);
    }
  });

  test('for a configured path gets the exposition, however the path is encoded', async () => {
    const { get: ask } = await serve({ metricsPath: '/my%20metrics', ready: () => false });
    for (const path of ['/my%20metrics', '/m%79%20metrics']) expect((await ask(path)).status).toBe(200);
    expect([(await ask('/metrics')).status, (await ask('/readyz')).status]).toEqual([404, 503]);
  });

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('with %s gets 405 for every page', async (method) => {
    const { get: ask } = await serve();
    for (const path of ['/', '/metrics', '/status', '/healthz']) {
      expect(await ask(path, { method })).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
    }
  });

  test('that fails by a defect gets 500, and the log has the reason', async () => {
    const { get: ask, lines } = await serve({ exposition: () => Promise.reject(new TypeError('a defect')) });
    expect((await ask()).status).toBe(500);
    expect(lines).toMatchObject([{ level: 'error', path: '/metrics', err: { message: 'a defect' } }]);
  });

  test('with a body, or that expects to be asked for one, gets its response', async () => {
    const { port } = await serve();
    for (const header of ['Content-Length: 5', 'Transfer-Encoding: chunked', 'Content-Length: 5\r\nExpect: x']) {
      const head = `GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${header}\r\n\r\n`;
      const text = await closed(await open(port, head));
      expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\nok\n$/s);
    }
  });
});

describe('a connection', () => {
  test('carries one scrape after another, with TLS also if each comes as soon as the one before was read', async () => {
    const pair = { cert: certificateText('server.crt'), key: certificateText('server.key') };
    const tls = tlsRules({}, { ...pair, ca: undefined });
    const { port } = await serve({ rules: { tls }, exposition: async () => bodyOf(LARGE.slice(0, 5)) });
    // In a process of its own, a client is as fast as scrapers are.
    const script = `
      const https = require('node:https');
      const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
      const options = { host: '127.0.0.1', port: ${port}, path: '/metrics', agent, rejectUnauthorized: false };
      const sockets = new Set();
      const scrape = (left) => https.get(options, (response) => {
        sockets.add(response.socket);
        response.resume().on('end', () => left > 1 ? scrape(left - 1) : process.exit(sockets.size - 1));
      });
      scrape(30);`;
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'ignore', 'inherit'] });
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test.each(['', 'Expect: x\r\n', 'Expect: 100-continue\r\n'])(
    'ends with a second request before the response to the first: %j',
    async (header) => {
      const { port, finishes } = await waiting();
      const second = `GET /metrics HTTP/1.1\r\nHost: x\r\n${header}\r\n`;
      expect(await closed(await open(port, GET_METRICS + second.repeat(20_000)))).toBe('');
      expect(finishes).toHaveLength(1);
    },
  );

  test('is read in small parts, because the parser creates an object for each request, also after its end', async () => {
    let parsed = 0;
    const server = createServer(({ socket }) => {
      parsed += 1;
      socket.destroy();
    });
    server.on('connection', readInParts).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    await closed(await open((server.address() as AddressInfo).port, GET_METRICS.repeat(1_500)));
    expect(parsed).toBeLessThan(60);
  });

  test('that is unused for longest gives way to a new one at the limit, and one of a scraper stays', async () => {
    const { server, port, get: ask } = await serve();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const [first, second] = [await open(port), await open(port)];
    for (let more = 0; more < 253; more += 1) await open(port);
    await ask('/metrics', { agent });
    await open(port);
    await closed(first);
    await ask('/metrics', { agent });
    expect([second.destroyed, server.closed.get('limit')]).toEqual([false, 1]);
  });
});

describe('scrapes at once', () => {
  test('beyond 40 get 503, and other pages do not', async () => {
    const { get: ask, finishes } = await waiting();
    const scrapes = Array.from({ length: 42 }, () => ask());
    expect(await Promise.race(scrapes)).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect((await ask('/status')).status).toBe(200);
    for (const finish of finishes.splice(0)) finish();
    const statuses = (await Promise.all(scrapes)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(40);
  });

  test.each<[how: string, bytes: string, leave: (socket: Socket) => void]>([
    ['reset', GET_METRICS, (socket) => socket.resetAndDestroy()],
    ['half-closed', GET_METRICS, (socket) => socket.end()],
    ['closed before the end of the header', GET_METRICS.slice(0, -2), (socket) => socket.destroy()],
  ])('give their places back if connections are %s, also while a password is checked', async (_, bytes, leave) => {
    const users = new Map(['1', '2', '3', '4', '5', '6'].map((name) => [name, 'hash']));
    const checks: (() => void)[] = [];
    const compare = () => new Promise<boolean>((resolve) => checks.push(() => resolve(true)));
    const { port, get: ask, finishes } = await waiting({ rules: { users }, compare });
    const isWhole = bytes === GET_METRICS;
    for (const user of users.keys()) {
      const sent = bytes.replace('\r\n', `\r\nAuthorization: ${basic(`${user}:right`).authorization}\r\n`);
      for (const isChecked of [false, true]) {
        // Then the password is known, and they leave while the exposition is produced.
        const clients = await Promise.all(Array.from({ length: 8 }, () => open(port, sent)));
        if (isWhole) await until('the requests', () => (isChecked ? finishes.length === 8 : checks.length === 1));
        clients.forEach(leave);
        await closed(...clients);
        // The server has noticed it when it responds to another request.
        await ask('/healthz');
        for (const finish of [...checks.splice(0), ...finishes.splice(0)]) finish();
      }
    }
    // More clients have left than there are places.
    const next = ask('/metrics', { headers: basic('1:right') });
    await until('the next scrape', () => {
      checks.shift()?.();
      return finishes.length === 1;
    });
    finishes[0]?.();
    expect((await next).status).toBe(200);
  });

  test('of which nothing is read give one place away after a second', async () => {
    const clock = new ManualClock();
    let scrapes = 0;
    const exposition = async () => {
      scrapes += 1;
      return bodyOf(LARGE);
    };
    const { server, port, get: ask } = await serve({ clock, exposition });
    await Promise.all(Array.from({ length: 40 }, () => open(port, GET_METRICS)));
    await until('40 scrapes', () => scrapes === 40);
    expect((await ask()).status).toBe(503);
    await until('the next scrape', async () => {
      await clock.advance(1_000);
      return (await ask()).body.length === 20_000_000;
    });
    expect(server.closed.get('unread')).toBe(1);
  });

  test('are cut off if nothing is read for five seconds', async () => {
    const clock = new ManualClock();
    const { port } = await serve({ clock, exposition: async () => bodyOf(LARGE) });
    const socket = await open(port, GET_METRICS);
    // The timer for the whole response, and the one for what is not read.
    await until('the response', () => clock.sleeping === 2);
    const begun = clock.monotonic();
    await until('the end of the response', async () => {
      await clock.advance(5_000);
      return clock.sleeping === 0;
    });
    expect(clock.monotonic() - begun).toBeLessThan(60_000);
    expect((await closed(socket)).length).toBeLessThan(20_000_000);
  });

  test('end after two minutes', async () => {
    const clock = new ManualClock();
    const { port, finishes } = await waiting({ clock });
    const socket = await open(port, GET_METRICS);
    await until('the scrape', () => finishes.length === 1);
    await clock.advance(119_999);
    expect(clock.sleeping).toBe(1);
    await clock.advance(1);
    await closed(socket);
  });

  test('leave others their turn, however fast they are read', async () => {
    const { get: ask } = await serve({ exposition: async () => bodyOf(LARGE) });
    let turns = 0;
    const count = () => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    expect((await ask()).body.equals(Buffer.concat(LARGE))).toBe(true);
    clearImmediate(next);
    expect(turns).toBeGreaterThan(30);
  });
});

describe('access', () => {
  const users = new Map([['späher', 'hash']]);
  const right = { headers: basic('späher:ge:heim') };

  test('needs the password for every page but those for probes, whatever the form of the target', async () => {
    const { get: ask } = await serve({ rules: { users } });
    const pages = '/ /metrics /status /nowhere //healthz /healthz/ /HEALTHZ /healthz/../metrics http://x/metrics *';
    for (const target of [...pages.split(' '), '/healthz%2F..%2Fmetrics', '/metrics?/healthz']) {
      expect([target, (await ask(target)).status]).toEqual([target, 401]);
      expect([target, (await ask(target, right)).status]).not.toEqual([target, 401]);
    }
    for (const target of ['/healthz', '/readyz?x', '/-/ready', 'http://x/healthz', '/%68ealthz']) {
      expect([target, (await ask(target)).status]).toEqual([target, 200]);
    }
    expect((await ask()).headers['www-authenticate']).toBe('Basic realm="filer-exporter", charset="UTF-8"');
  });

  test('is rejected for anything but a known user with the right password', async () => {
    const { get: ask } = await serve({ rules: { users } });
    const wrong = ['späher:falsch', 'constructor:ge:heim', 'späher', ':', `späher:${'g'.repeat(8_000)}`].map(basic);
    for (const headers of [...wrong, { authorization: 'Bearer ge:heim' }, { authorization: 'Basic %%%' }]) {
      expect((await ask('/metrics', { headers })).status).toBe(401);
    }
  });

  test('is limited by rate_limit before the password is checked, and probes are not', async () => {
    const clock = new ManualClock();
    const { get: ask } = await serve({ clock, rules: { users, rateLimit: { intervalMs: 1_000, burst: 2 } } });
    const statusesAfter = async (pauseMs: number) => {
      await clock.advance(pauseMs);
      const statuses: unknown[] = [];
      for (const path of ['/healthz', '/metrics', '/nowhere', '/metrics']) statuses.push((await ask(path)).status);
      return statuses;
    };
    expect(await statusesAfter(0)).toEqual([200, 401, 401, 429]);
    expect(await statusesAfter(999)).toEqual([200, 429, 429, 429]);
    expect(await statusesAfter(1)).toEqual([200, 401, 429, 429]);
    // However long nobody asks, the burst is the most.
    expect(await statusesAfter(60_000)).toEqual([200, 401, 401, 429]);
  });

  test('follows changed rules: idle connections end, others after their response', async () => {
    const { server, port, get: ask, finishes } = await waiting({ rules: {} });
    const [idle, busy] = [await open(port), await open(port, GET_METRICS)];
    await until('the scrape', () => finishes.length === 1);
    server.adopt({ ...NO_RULES, users, headers: { 'X-Frame-Options': 'deny' } });
    await closed(idle);
    finishes[0]?.();
    expect(await closed(busy)).toContain('200 OK');
    expect(await ask('/status')).toMatchObject({ status: 401, headers: { 'x-frame-options': 'deny' } });
  });
});

test('a stop lets scrapes end, closes other connections, accepts no new ones, and cuts off what is late', async () => {
  const { server, port, get: ask, finishes } = await waiting();
  const idle = await open(port);
  const inTime = ask();
  const late = expect(ask()).rejects.toThrow();
  await until('the scrapes', () => finishes.length === 2);
  const timeout = new AbortController();
  const closing = server.close(timeout.signal);
  await closed(idle);
  await expect(ask('/healthz')).rejects.toThrow('ECONNREFUSED');
  finishes[0]?.();
  expect((await inTime).body.toString()).toBe(EXPOSITION);
  timeout.abort();
  await Promise.all([closing, late]);
});
