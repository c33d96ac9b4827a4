// Only here: clients that read slowly or vanish, and what is kept for them.
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { Front } from '../../src/http/front.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { document, exposition, large, reading, serve, serving, sluggish, until } from './serving.ts';

const whole = Buffer.concat(exposition);

describe('many scrapes at once', () => {
  test('beyond the limit are refused until one has ended, and pages are not', async () => {
    let finish = () => {};
    const waiting = new Promise<readonly Buffer[]>((resolve) => {
      finish = () => resolve(exposition);
    });
    const { ask } = await serve({ exposition: serving(waiting) }, { maxScrapes: 2 });
    const answers = [ask(), ask(), ask(), ask()];
    const refused = await Promise.race(answers);
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
    expect((await ask('/healthz')).status).toBe(200);
    finish();
    const statuses = (await Promise.all(answers)).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 200, 503, 503]);
    expect((await ask()).status).toBe(200);
  });

  test('a slow reader does not hold up another', async () => {
    const { port, ask } = await serve({ exposition: serving(large) });
    await sluggish(port);
    expect((await ask()).body).toHaveLength(40_000_000);
  });

  test('what a slow reader gets is whole, though its memory is used again for each part', async () => {
    const memory = Buffer.alloc(100_000);
    function* buffers() {
      for (let part = 0; part < 200; part += 1) yield memory.fill(part);
    }
    const { port } = await serve({ exposition: async () => ({ length: 20_000_000, buffers }) });
    const socket = await sluggish(port, 'GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    const heard = reading(socket);
    await until(() => socket.destroyed);
    const meant = Buffer.concat(large.slice(0, 200).map(({ length }, part) => Buffer.alloc(length, part)));
    expect(Buffer.from(heard(), 'latin1').subarray(-20_000_000).equals(meant)).toBe(true);
  });

  test('a scraper that goes away makes room for the next', async () => {
    const { port, ask } = await serve({ exposition: serving(large) }, { maxScrapes: 1 });
    const gone = await sluggish(port);
    await until(async () => (await ask('/metrics', {}, 'HEAD')).status === 503);
    gone.destroy();
    await until(async () => (await ask('/metrics', {}, 'HEAD')).status === 200);
  });

  test.each<[string, Readonly<Record<string, string>>, number]>([
    ['the time-out that the scraper names', { 'X-Prometheus-Scrape-Timeout-Seconds': '10' }, 10_000],
    ['two minutes where it names none', {}, 120_000],
    ['two minutes where it names nonsense', { 'X-Prometheus-Scrape-Timeout-Seconds': 'soon' }, 120_000],
    ['two minutes where it names more', { 'X-Prometheus-Scrape-Timeout-Seconds': '1e9' }, 120_000],
  ])('a scraper that does not read is cut off after %s', async (_, headers, ms) => {
    const clock = new ManualClock();
    const { port, ask } = await serve({ exposition: serving(large) }, { maxScrapes: 1, clock });
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const socket = await sluggish(port, `GET /metrics HTTP/1.1\r\nHost: x\r\n${lines.join('')}\r\n`);
    await until(() => clock.sleeping === 1);
    await clock.advance(ms - 1);
    expect(clock.sleeping).toBe(1);
    await clock.advance(1);
    await until(async () => (await ask('/metrics', {}, 'HEAD')).status === 200);
    socket.resume();
    await until(() => socket.destroyed);
    expect(clock.sleeping).toBe(0);
  });
});

describe('clients that do not read', () => {
  test('keep no scrape out: at the limit the one that has not read longest gives way', async () => {
    const clock = new ManualClock();
    const { connections, port, ask } = await serve({ exposition: serving(large) }, { maxScrapes: 2, clock });
    const [first] = [await sluggish(port), await sluggish(port)];
    await until(() => clock.sleeping === 2);
    expect((await ask('/metrics', {}, 'HEAD')).status).toBe(503);
    await until(async () => {
      await clock.advance(2_000);
      return (await ask()).body.length === 40_000_000;
    });
    expect(connections.closed.get('unread')).toBe(1);
    first?.resume();
    await until(() => first?.destroyed === true);
  });

  test('keep no page from others either', async () => {
    const clock = new ManualClock();
    const { port, ask } = await serve({ statusPage: async () => document('a'.repeat(40_000_000)) }, { clock });
    for (let times = 0; times < 16; times += 1) await sluggish(port, 'GET /status HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => clock.sleeping === 16);
    const busy = await ask('/status', {}, 'HEAD');
    expect([busy.status, busy.headers['retry-after'], busy.body.toString()]).toEqual([503, '1', '']);
    expect((await ask()).status).toBe(200);
    await clock.advance(2_000);
    expect((await ask('/status', {}, 'HEAD')).status).toBe(200);
  });

  test('and send requests ahead are cut off, with four answers under way at most', async () => {
    const made: string[] = [];
    const { connections, port } = await serve({
      statusPage: async () => document(`${made.push('page')}`.padEnd(40_000_000)),
    });
    const four = await sluggish(port, 'GET /status HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(4));
    await until(() => made.length > 0);
    expect([made.length, four.destroyed]).toEqual([1, false]);
    const many = await sluggish(port, 'GET /status HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_000));
    many.resume();
    await until(() => many.destroyed);
    expect(connections.closed.get('pipelined')).toBe(1);
    expect(made.length).toBeLessThanOrEqual(2);
  });
});

test('requests that are sent ahead are answered one after the other, in their order', async () => {
  const { port } = await serve();
  const asked = ['/healthz', '/metrics', '/nowhere', '/healthz'];
  const socket = await sluggish(port, asked.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
  const heard = reading(socket);
  await until(() => heard().match(/ok\n/g)?.length === 2);
  expect([...heard().matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status)).toEqual([
    '200',
    '200',
    '404',
    '200',
  ]);
});

test('nothing is written into an answer that is under way, whatever comes behind its request', async () => {
  const { port } = await serve({ exposition: serving(large) });
  const socket = await sluggish(port, 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\nnonsense\r\n\r\n');
  const heard = reading(socket);
  await until(() => socket.destroyed);
  expect(heard().match(/HTTP\/1\.1 /g)?.length ?? 0).toBeLessThanOrEqual(1);
  expect(heard()).not.toContain('400');
});

describe('connections at the limit', () => {
  const ASK = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';

  /** A connection on which something was asked and answered. */
  async function idle(port: number, asks = ASK) {
    const socket = await sluggish(port, asks);
    const heard = reading(socket);
    await until(() => heard().includes('ok\n'));
    return socket;
  }

  test('the one idle longest makes room, counted, and the log says so once', async () => {
    const { connections, port, lines } = await serve({}, { maxConnections: 3 });
    const [first, second, third] = [await idle(port), await idle(port), await idle(port)];
    first.write(ASK);
    await until(() => first.bytesRead > second.bytesRead);
    await idle(port);
    await until(() => second.destroyed);
    expect([first.destroyed, third.destroyed]).toEqual([false, false]);
    await idle(port);
    await until(() => third.destroyed);
    expect(connections.closed.get('limit')).toBe(2);
    expect(lines.take()).toEqual(['warn connection limit reached (MAX_CONNECTIONS)']);
  });

  test('one that gave no password makes room first, and one whose password is wrong is closed at once', async () => {
    let ready = (_: Socket) => {};
    const wrong = { status: 401, headers: {}, text: 'no\n' } as const;
    const front: Front = {
      generation: 0,
      headers: {},
      accept: (socket) => ready(socket),
      serve: (secured) => {
        ready = secured;
      },
      admit: ({ headers }) => (headers.authorization === 'right' ? 'let in' : wrong),
    };
    const { port } = await serve({}, { maxConnections: 2, front });
    const asks = ASK.replace('Host: x', 'Host: x\r\nAuthorization: right');
    const known = await idle(port, asks);
    const silent = (await sluggish(port, '')).resume();
    await idle(port, asks);
    await until(() => silent.destroyed);
    expect(known.destroyed).toBe(false);
    const guesses = (await sluggish(port, ASK)).resume();
    await until(() => guesses.destroyed && guesses.bytesRead > 0);
  });

  test('the one that has been busy longest makes room where none is idle, from ten seconds on', async () => {
    const clock = new ManualClock();
    let asked = 0;
    const exposition = () => {
      asked += 1;
      return new Promise<never>(() => {});
    };
    const { connections, port, ask } = await serve({ exposition }, { maxConnections: 2, clock });
    const first = await sluggish(port);
    await until(() => asked === 1);
    await clock.advance(1);
    const second = await sluggish(port);
    await until(() => asked === 2);
    await clock.advance(9_999);
    expect((await ask('/healthz')).status).toBe(200);
    first.resume();
    await until(() => first.destroyed);
    expect([second.destroyed, connections.closed.get('limit')]).toEqual([false, 1]);
  });

  test('a new one is closed where all are busy', async () => {
    let asked = 0;
    const exposition = () => {
      asked += 1;
      return new Promise<never>(() => {});
    };
    const { connections, port } = await serve({ exposition }, { maxConnections: 2 });
    const busy = [await sluggish(port), await sluggish(port)];
    await until(() => asked === 2);
    const further = await sluggish(port, ASK);
    further.resume();
    await until(() => further.destroyed);
    expect([further.bytesRead, connections.closed.get('refused')]).toEqual([0, 1]);
    expect(busy.map(({ destroyed }) => destroyed)).toEqual([false, false]);
  });
});

describe('closing', () => {
  /** A server with a scrape under way that ends when it is told to. */
  async function busy() {
    let finish = () => {};
    let asked = false;
    const waiting = new Promise<readonly Buffer[]>((resolve) => {
      finish = () => resolve(exposition);
    });
    const { server, port, ask } = await serve({
      exposition: (format, gzip) => {
        asked = true;
        return serving(waiting)(format, gzip);
      },
    });
    return { server, port, ask, finish, asked: () => asked };
  }

  test('lets a scrape under way end first, and takes no more', async () => {
    const { server, ask, finish, asked } = await busy();
    const scrape = ask();
    await until(asked);
    let closed = false;
    const closing = server.close(new AbortController().signal).then(() => {
      closed = true;
    });
    await expect(ask('/healthz')).rejects.toThrow('ECONNREFUSED');
    expect(closed).toBe(false);
    finish();
    expect((await scrape).body.equals(whole)).toBe(true);
    await closing;
  });

  test('does not wait for a scraper that keeps its connection for the next time', async () => {
    const { server, port, finish, asked } = await busy();
    const socket = await sluggish(port);
    const heard = reading(socket);
    await until(asked);
    const closing = server.close(new AbortController().signal);
    finish();
    await closing;
    await until(() => heard().endsWith('1\n'));
    expect(heard()).toContain('200 OK');
  });

  test('cuts off what does not end in time', async () => {
    const { server, ask, asked } = await busy();
    const scrape = expect(ask()).rejects.toThrow();
    await until(asked);
    const late = new AbortController();
    const closing = server.close(late.signal);
    late.abort();
    await Promise.all([closing, scrape]);
  });

  test('ends connections on which nobody asks anything', async () => {
    const { server, port } = await serve();
    const idle = await sluggish(port, '');
    await server.close(AbortSignal.abort());
    idle.resume();
    await until(() => idle.destroyed);
  });
});
