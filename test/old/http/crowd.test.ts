// Only here: clients that read slowly or vanish, and what is kept for them.
import { describe, expect, test } from 'vitest';
import { ManualClock } from '../support/manual-clock.ts';
import { document, exposition, large, reading, serve, serving, sluggish, until } from './serving.ts';

const whole = Buffer.concat(exposition);

/** A page, and how often it was requested. */
function counted<Given extends readonly unknown[], Page>(page: (...given: Given) => Page) {
  let count = 0;
  return {
    requested: () => count,
    page: (...given: Given) => {
      count += 1;
      return page(...given);
    },
  };
}

describe('many scrapes at once', () => {
  test('beyond the limit are rejected until one has ended, and pages are not', async () => {
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
    expect((await ask()).body).toHaveLength(20_000_000);
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
    const meant = Buffer.concat(large.map(({ length }, part) => Buffer.alloc(length, part)));
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
    const { requested, page } = counted(serving(large));
    const { port, ask } = await serve({ exposition: page }, { maxScrapes: 1, clock });
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const socket = await sluggish(port, `GET /metrics HTTP/1.1\r\nHost: x\r\n${lines.join('')}\r\n`);
    await until(() => requested() === 1);
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
  test('[guest-answers-unread] keep no scrape out: at the limit the one that has not read longest gives way', async () => {
    const clock = new ManualClock();
    const { requested, page } = counted(serving(large));
    const { connections, port, ask } = await serve({ exposition: page }, { maxScrapes: 2, clock });
    const [first] = [await sluggish(port), await sluggish(port)];
    await until(() => requested() === 2);
    expect((await ask('/metrics', {}, 'HEAD')).status).toBe(503);
    await until(async () => {
      await clock.advance(2_000);
      return (await ask()).body.length === 20_000_000;
    });
    expect(connections.closed.get('unread')).toBe(1);
    first?.resume();
    await until(() => first?.destroyed === true);
  });

  test('keep no page from others either', async () => {
    const clock = new ManualClock();
    const longPage = document('a'.repeat(20_000_000));
    const { requested, page } = counted(async () => longPage);
    const { port, ask } = await serve({ statusPage: page }, { clock });
    for (let times = 0; times < 16; times += 1) await sluggish(port, 'GET /status HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => requested() === 16);
    const busy = await ask('/status', {}, 'HEAD');
    expect([busy.status, busy.headers['retry-after'], busy.body.toString()]).toEqual([503, '1', '']);
    expect((await ask()).status).toBe(200);
    await clock.advance(2_000);
    expect((await ask('/status', {}, 'HEAD')).status).toBe(200);
  });

  test('and hold every connection give way to a new one', async () => {
    const clock = new ManualClock();
    const { requested, page } = counted(serving(large));
    const { connections, port, ask } = await serve({ exposition: page }, { maxConnections: 2, clock });
    const first = await sluggish(port);
    await sluggish(port);
    await until(() => requested() === 2);
    await expect(ask('/healthz')).rejects.toThrow();
    await until(async () => {
      await clock.advance(2_000);
      return ask('/healthz').then(
        ({ status }) => status === 200,
        () => false,
      );
    });
    expect(connections.closed.get('unread')).toBe(1);
    first.resume();
    await until(() => first.destroyed);
  });

  test('[guest-requests-ahead] and send a thousand requests before the response to the first get one response', async () => {
    const requested: string[] = [];
    const { port } = await serve({
      statusPage: async () => document(`${requested.push('page')}`.padEnd(20_000_000)),
    });
    const many = await sluggish(port, 'GET /status HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_000));
    const heard = reading(many);
    await until(() => many.destroyed);
    expect([heard().match(/HTTP\/1\.1 /g)?.length, requested.length]).toEqual([1, 1]);
  });
});

test('a connection brings one request: its response says that it is closed, and closes it', async () => {
  const { port } = await serve();
  const socket = await sluggish(port, 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n');
  const heard = reading(socket);
  await until(() => socket.destroyed);
  expect(heard()).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\nconnection: close\r\n[\s\S]*ok\n$/i);
});

test('nothing is written into an answer that is under way, whatever comes behind its request', async () => {
  const { port } = await serve({ exposition: serving(large) });
  const socket = await sluggish(port, 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\nnonsense\r\n\r\n');
  const heard = reading(socket);
  await until(() => socket.destroyed);
  expect(heard().match(/HTTP\/1\.1 /g)?.length ?? 0).toBeLessThanOrEqual(1);
});

describe('connections at the limit', () => {
  test('the oldest one without a request makes room, counted, and the log says so once', async () => {
    const { connections, port, ask, lines } = await serve({}, { maxConnections: 3 });
    const [first, second, third] = [await silent(port), await silent(port), await silent(port)];
    expect((await ask('/healthz')).status).toBe(200);
    await until(() => first.destroyed);
    expect([second.destroyed, third.destroyed]).toEqual([false, false]);
    await silent(port);
    await silent(port);
    await until(() => second.destroyed);
    expect(third.destroyed).toBe(false);
    expect(connections.closed.get('limit')).toBe(2);
    expect(lines.take()).toEqual([
      'warn The limit of connections is reached (MAX_CONNECTIONS): new connections replace those without a request.',
    ]);
  });

  test('a new one is closed where each of the others has a request that is being served', async () => {
    const { requested, page } = counted(() => new Promise<never>(() => {}));
    const { connections, port } = await serve({ exposition: page }, { maxConnections: 2 });
    const busy = [await sluggish(port), await sluggish(port)];
    await until(() => requested() === 2);
    const further = await silent(port);
    await until(() => further.destroyed);
    expect([further.bytesRead, connections.closed.get('refused')]).toEqual([0, 1]);
    expect(busy.map(({ destroyed }) => destroyed)).toEqual([false, false]);
  });
});

describe('a connection without a request', () => {
  test.each(['', 'GET /metrics HTTP/1.1\r\nHost: x\r\nX-A: '])('is closed after ten seconds: %j', async (sent) => {
    const clock = new ManualClock();
    const { connections, port } = await serve({}, { clock });
    const socket = (await sluggish(port, sent)).resume();
    await until(() => clock.sleeping === 1);
    await clock.advance(9_999);
    expect(connections.closed.get('timeout')).toBe(0);
    await clock.advance(1);
    await until(() => socket.destroyed);
    expect([connections.closed.get('timeout'), clock.sleeping]).toEqual([1, 0]);
  });

  test('is closed when the rules change, and one with a request gets its response', async () => {
    let finish = () => {};
    const waiting = new Promise<readonly Buffer[]>((resolve) => {
      finish = () => resolve(exposition);
    });
    const { connections, port, ask } = await serve({ exposition: serving(waiting) });
    const idle = await silent(port);
    const scrape = ask();
    await until(async () => (await ask('/healthz')).status === 200);
    connections.destroyWaiting();
    finish();
    await until(() => idle.destroyed);
    expect((await scrape).body.equals(whole)).toBe(true);
  });
});

/** A connection on which nothing is sent. */
async function silent(port: number) {
  return (await sluggish(port, '')).resume();
}

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
