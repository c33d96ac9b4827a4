import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { readInParts } from '../../../src/web/connections.ts';
import { tlsRules } from '../../../src/web/tls.ts';
import { certificateText } from '../../harness/certificates.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { until } from '../../harness/until.ts';
import { basic, bodyOf, closed, GET_METRICS, open, serve, waiting } from './serving.ts';

/** More than the buffers of a connection hold. */
const LARGE = Array.from({ length: 200 }, (_, part) => Buffer.alloc(100_000, part));

test('a connection carries one scrape after another, with TLS also if each comes as soon as the one before was read', async () => {
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

test('a connection ends with a second request before the response to the first', async () => {
  for (const header of ['', 'Expect: x\r\n', 'Expect: 100-continue\r\n']) {
    const { port, finishes } = await waiting();
    const second = `GET /metrics HTTP/1.1\r\nHost: x\r\n${header}\r\n`;
    expect(await closed(await open(port, GET_METRICS + second.repeat(20_000)))).toBe('');
    expect(finishes).toHaveLength(1);
  }
});

test('a connection is read in small parts, because the parser creates an object for each request, also after its end', async () => {
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

test('a connection that is unused for longest gives way to a new one at the limit, and one of a scraper stays', async () => {
  const { server, port, get } = await serve();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const [first, second] = [await open(port), await open(port)];
  for (let more = 0; more < 253; more += 1) await open(port);
  await get('/metrics', { agent });
  await open(port);
  await closed(first);
  await get('/metrics', { agent });
  expect([second.destroyed, server.closed.get('limit')]).toEqual([false, 1]);
});

test.each<[how: string, bytes: string, leave: (socket: Socket) => void]>([
  ['reset', GET_METRICS, (socket) => socket.resetAndDestroy()],
  ['half-closed', GET_METRICS, (socket) => socket.end()],
  ['closed before the end of the header', GET_METRICS.slice(0, -2), (socket) => socket.destroy()],
])('connections that are %s give their places back, also during a password check', async (_, bytes, leave) => {
  const checks: (() => void)[] = [];
  const compare = () => new Promise<boolean>((resolve) => checks.push(() => resolve(true)));
  const { port, get, finishes } = await waiting({ rules: { users: new Map([['me', 'hash']]) }, compare });
  const headers = basic('me:right');
  const sent = bytes.replace('\r\n', `\r\nAuthorization: ${headers.authorization}\r\n`);
  const leaveWhen = async (count: number, hasCome: () => boolean) => {
    const clients = await Promise.all(Array.from({ length: count }, () => open(port, sent)));
    if (bytes === GET_METRICS) await until('the requests', hasCome);
    clients.forEach(leave);
    await closed(...clients);
    // The server has noticed it when it responds to another request.
    await get('/healthz');
    for (const finish of [...checks.splice(0), ...finishes.splice(0)]) finish();
    await get('/healthz');
    expect(finishes).toHaveLength(0);
  };
  await leaveWhen(8, () => checks.length === 1);
  // Now the password is known, and as many as there are places leave while the exposition is produced.
  await leaveWhen(40, () => finishes.length === 40);
  const next = get('/metrics', { headers });
  await until('the next scrape', () => {
    checks.shift()?.();
    return finishes.length === 1;
  });
  finishes[0]?.();
  expect((await next).status).toBe(200);
});

test('scrapes at once are 40, others get 503, and one of which nothing is read gives its place away after a second', async () => {
  const clock = new ManualClock();
  const { server, port, get, finishes } = await waiting({ clock });
  await open(port, GET_METRICS);
  await until('the first scrape', () => finishes.length === 1);
  const others = Array.from({ length: 39 }, () => get());
  await until('40 scrapes', () => finishes.length === 40);
  finishes[0]?.(LARGE);
  expect((await get('/status')).status).toBe(200);
  await clock.advance(999);
  expect(await get()).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  await clock.advance(1);
  const next = get();
  await until('the next scrape', () => finishes.length === 41);
  expect(server.closed).toEqual(new Map(Object.entries({ limit: 0, unread: 1 })));
  for (const finish of finishes) finish();
  for (const { status } of await Promise.all([...others, next])) expect(status).toBe(200);
});

test('scrapes at once are cut off if nothing is read for five seconds, and after two minutes', async () => {
  const clock = new ManualClock();
  const { port, finishes } = await waiting({ clock });
  const unread = await open(port, GET_METRICS);
  await until('the first scrape', () => finishes.length === 1);
  finishes[0]?.(LARGE);
  const produced = await open(port, GET_METRICS);
  await until('the second scrape', () => finishes.length === 2);
  // Three timers: one for each response, and one for what is not read.
  await until('the end of the first response', async () => {
    await clock.advance(5_000);
    return clock.sleeping === 1;
  });
  expect((await closed(unread)).length).toBeLessThan(20_000_000);
  expect(clock.monotonic()).toBeLessThan(60_000);
  await clock.advance(119_999 - clock.monotonic());
  expect(clock.sleeping).toBe(1);
  await clock.advance(1);
  await closed(produced);
});

test('scrapes at once leave others their turn, however fast they are read', async () => {
  const { get } = await serve({ exposition: async () => bodyOf(LARGE) });
  let turns = 0;
  const count = () => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  expect((await get()).body.equals(Buffer.concat(LARGE))).toBe(true);
  clearImmediate(next);
  expect(turns).toBeGreaterThan(30);
});
