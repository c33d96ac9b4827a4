import { describe, expect, test } from 'vitest';
import { ManualClock } from '../support/manual-clock.ts';
import { exposition, large, serve, serving, sluggish, until } from './serving.ts';

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
    expect((await ask('/metrics', {}, 'HEAD')).status).toBe(503);
    await clock.advance(1);
    await until(async () => (await ask('/metrics', {}, 'HEAD')).status === 200);
    socket.resume();
    await until(() => socket.destroyed);
    expect(clock.sleeping).toBe(0);
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
      exposition: (format, coding) => {
        asked = true;
        return serving(waiting)(format, coding);
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
    let heard = '';
    socket.on('data', (chunk: Buffer) => {
      heard += chunk.toString();
    });
    socket.resume();
    await until(asked);
    const closing = server.close(new AbortController().signal);
    finish();
    await closing;
    await until(() => heard.endsWith('1\n'));
    expect(heard).toContain('200 OK');
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
