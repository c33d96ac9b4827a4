import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { ManualClock } from '../../harness/manual-clock.ts';
import { until } from '../../harness/until.ts';
import { basic, closed, EXPOSITION, GET_METRICS, NO_RULES, open, serve, waiting } from './serving.ts';

const OPENMETRICS = 'application/openmetrics-text';

test.each([
  ['text/plain; version=0.0.4; charset=utf-8', '', EXPOSITION],
  [`${OPENMETRICS}; version=1.0.0; charset=utf-8`, OPENMETRICS, `${EXPOSITION}# EOF\n`],
])('a scrape gets %s, compressed if it accepts that, and no body for HEAD', async (type, accept, text) => {
  const { get } = await serve();
  const plain = await get('/metrics', { headers: { accept } });
  expect([plain.status, plain.headers['content-type'], plain.body.toString()]).toEqual([200, type, text]);
  const compressed = await get('/metrics', { headers: { accept, 'accept-encoding': 'gzip' } });
  expect([compressed.headers['content-encoding'], gunzipSync(compressed.body).toString()]).toEqual(['gzip', text]);
  const { date: _date, ...sameHeaders } = plain.headers;
  const head = await get('/metrics', { headers: { accept }, method: 'HEAD' });
  expect([head.headers, head.body.length]).toMatchObject([{ ...sameHeaders, 'cache-control': 'no-store' }, 0]);
});

test.each([
  ['/ /?from=here http://exporter', 200, 'landing'],
  ['/status?show=a%20b HTTPS://exporter:9989/status?show=a%20b', 200, 'status of show=a%20b'],
  ['/api/v1/status', 200, '{}'],
  ['/healthz /-/healthy http://x/healthz /%68ealthz', 200, 'ok\n'],
  ['/readyz /-/ready', 503, 'the first polls have not ended\n'],
  ['/my%20metrics?x=1 /m%79%20metrics http://exporter/my%20metrics', 200, EXPOSITION],
  [
    '/metrics /my%20metrics/ //my%20metrics /% /constructor /healthz/../status *',
    404,
    'not found; / lists the pages\n',
  ],
])('a request for %s gets %d', async (targets, status, text) => {
  const { get } = await serve({ metricsPath: '/my%20metrics', ready: () => false });
  for (const target of targets.split(' ')) {
    const { status: got, body } = await get(target, { headers: { 'accept-encoding': 'br' } });
    expect([target, got, body.toString()]).toEqual([target, status, text]);
  }
});

test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('a request with %s gets 405 for every page', async (method) => {
  const { get } = await serve();
  for (const path of ['/', '/metrics', '/status', '/healthz']) {
    expect(await get(path, { method })).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
  }
});

test('a request that fails by a defect gets 500, and the log has the reason', async () => {
  const { get, lines } = await serve({ exposition: () => Promise.reject(new TypeError('a defect')) });
  expect((await get()).status).toBe(500);
  expect(lines).toMatchObject([{ level: 'error', path: '/metrics', err: { message: 'a defect' } }]);
});

test('a request with a body, or that expects to be asked for one, gets its response', async () => {
  const { port } = await serve();
  for (const header of ['Content-Length: 5', 'Transfer-Encoding: chunked', 'Content-Length: 5\r\nExpect: x']) {
    const head = `GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${header}\r\n\r\n`;
    const text = await closed(await open(port, head));
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\nok\n$/s);
  }
});

const users = new Map([['späher', 'hash']]);

test('access needs the password for every page but those for probes, whatever the form of the target', async () => {
  const { get } = await serve({ rules: { users } });
  const pages = '/ /metrics /status /nowhere //healthz /healthz/ /HEALTHZ /healthz/../metrics http://x/metrics *';
  for (const target of [...pages.split(' '), '/healthz%2F..%2Fmetrics', '/metrics?/healthz']) {
    expect([target, (await get(target)).status]).toEqual([target, 401]);
    expect([target, (await get(target, { headers: basic('späher:ge:heim') })).status]).not.toEqual([target, 401]);
  }
  for (const target of ['/healthz', '/readyz?x', '/-/ready', 'http://x/healthz', '/%68ealthz']) {
    expect([target, (await get(target)).status]).toEqual([target, 200]);
  }
  expect((await get()).headers['www-authenticate']).toBe('Basic realm="filer-exporter", charset="UTF-8"');
});

test('access is rejected for anything but a known user with the right password', async () => {
  const { get } = await serve({ rules: { users } });
  const wrong = ['späher:falsch', 'constructor:ge:heim', 'späher', ':', `späher:${'g'.repeat(8_000)}`].map(basic);
  for (const headers of [...wrong, { authorization: 'Bearer ge:heim' }, { authorization: 'Basic %%%' }]) {
    expect((await get('/metrics', { headers })).status).toBe(401);
  }
});

test('access is limited by rate_limit before the password is checked, and probes are not', async () => {
  const clock = new ManualClock();
  const { get } = await serve({ clock, rules: { users, rateLimit: { intervalMs: 1_000, burst: 2 } } });
  const statusesAfter = async (pauseMs: number) => {
    await clock.advance(pauseMs);
    const statuses: unknown[] = [];
    for (const path of ['/healthz', '/metrics', '/nowhere', '/metrics']) statuses.push((await get(path)).status);
    return statuses;
  };
  expect(await statusesAfter(0)).toEqual([200, 401, 401, 429]);
  expect(await statusesAfter(999)).toEqual([200, 429, 429, 429]);
  expect(await statusesAfter(1)).toEqual([200, 401, 429, 429]);
  // However long nobody asks, the burst is the most.
  expect(await statusesAfter(60_000)).toEqual([200, 401, 401, 429]);
});

test('access follows changed rules: idle connections end, others after their response', async () => {
  const { server, port, get, finishes } = await waiting({ rules: {} });
  const [idle, busy] = [await open(port), await open(port, GET_METRICS)];
  await until('the scrape', () => finishes.length === 1);
  server.adopt({ ...NO_RULES, users, headers: { 'X-Frame-Options': 'deny' } });
  await closed(idle);
  finishes[0]?.();
  expect(await closed(busy)).toContain('200 OK');
  expect(await get('/status')).toMatchObject({ status: 401, headers: { 'x-frame-options': 'deny' } });
});

test('a stop lets scrapes end, closes other connections, accepts no new ones, and cuts off what is late', async () => {
  const { server, port, get, finishes } = await waiting();
  // It listens on one address.
  await expect(get('/healthz', { host: '127.0.0.2' })).rejects.toThrow('ECONNREFUSED');
  const idle = await open(port);
  const inTime = get();
  const late = expect(get()).rejects.toThrow();
  await until('the scrapes', () => finishes.length === 2);
  const timeout = new AbortController();
  const closing = server.close(timeout.signal);
  await closed(idle);
  await expect(get('/healthz')).rejects.toThrow('ECONNREFUSED');
  finishes[0]?.();
  expect((await inTime).body.toString()).toBe(EXPOSITION);
  timeout.abort();
  await Promise.all([closing, late]);
});
