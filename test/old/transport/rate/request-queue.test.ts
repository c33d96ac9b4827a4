import pLimit from 'p-limit';
import { describe, expect, test } from 'vitest';
import type { ServiceRequest } from '../../../src/transport/json-client.ts';
import { AdaptiveRate } from '../../../src/transport/rate/adaptive-rate.ts';
import { DailyQuota } from '../../../src/transport/rate/daily-quota.ts';
import { type RateFeedback, RateLimiter, type SentRequest } from '../../../src/transport/rate/rate-limiter.ts';
import { RequestQueue } from '../../../src/transport/rate/request-queue.ts';
import { ManualClock, settle } from '../../support/manual-clock.ts';
import { MemoryDispatcher } from '../../support/memory-dispatcher.ts';
import { clientOf } from '../../support/mock-api.ts';

const TAKEN: RateFeedback = { state: 'accepted' };
const going = new AbortController().signal;

/** Ten requests a second, one every 100 ms. */
function pacerOf(dailyLimit?: number): { readonly pacer: RequestQueue; readonly clock: ManualClock } {
  const clock = new ManualClock();
  const limit = { requests: 300, windowMs: 30_000 };
  const pacer = new RequestQueue(
    new RateLimiter(limit, new AdaptiveRate(0.01, 0), 0),
    new DailyQuota(dailyLimit, 0),
    clock,
  );
  return { pacer, clock };
}

/** Queues requests, and notes in which order they leave and when. */
function queue(pacer: RequestQueue, clock: ManualClock) {
  const left: { readonly name: string; readonly at: number; readonly departure: SentRequest }[] = [];
  const ask = (name: string, signal = going) =>
    pacer.acquire(signal).then((departure) => {
      if (departure !== undefined) left.push({ name, at: clock.monotonic(), departure });
    });
  return { left, ask };
}

describe('turn-taking', () => {
  test('lets requests go one by one at the pace, whoever came first goes first', async () => {
    const { pacer, clock } = pacerOf();
    const { left, ask } = queue(pacer, clock);
    for (const name of ['a', 'b', 'c', 'd', 'e']) void ask(name);
    await clock.advance(1_000);
    expect(left.map(({ name }) => name).join('')).toBe('abcde');
    // The first three may go within the slack for late timers; then one every 100 ms.
    expect((left[4]?.at ?? 0) - (left[3]?.at ?? 0)).toBeCloseTo(100, 0);
  });

  test('lets what decides go ahead of what waits', async () => {
    const { pacer, clock } = pacerOf();
    const left: string[] = [];
    for (const name of ['x', 'y', 'z', 'list']) {
      void pacer.acquire(going, name === 'list').then(() => left.push(name));
    }
    await clock.advance(1_000);
    expect(left).toEqual(['x', 'list', 'y', 'z']);
  });

  test('lets a request for a token go next, though as many polls wait as may be in flight', async () => {
    const clock = new ManualClock();
    const rate = new RateLimiter({ requests: 300, windowMs: 30_000 }, new AdaptiveRate(0.001, 0), 0);
    const dispatcher = new MemoryDispatcher((_, response) => void response.writeHead(200).end('{}'));
    const client = clientOf('http://api.test/v1', dispatcher, clock, {
      requestQueue: new RequestQueue(rate, new DailyQuota(undefined, 0), clock),
      limit: pLimit(8),
    });
    const read: ServiceRequest = { method: 'GET', path: '/serials', operation: 'serials' };
    const stop = new AbortController();
    const poll = async () => {
      while (!stop.signal.aborted) await client.send(read, stop.signal).catch(() => {});
    };
    const polls = Array.from({ length: 8 }, poll);
    await clock.advance(20_000);
    const waits: number[] = [];
    for (let count = 0; count < 20; count += 1) {
      const begun = clock.monotonic();
      const sent = client
        .send({ ...read, priority: true }, stop.signal)
        .then(() => waits.push(clock.monotonic() - begun));
      await clock.through(sent, 10);
      await clock.advance(530);
    }
    stop.abort();
    await Promise.all(polls);
    // At one request a second: until the next one may leave.
    expect(Math.max(...waits)).toBeLessThanOrEqual(1_010);
  });

  test('lets nobody go while everything is held, and says so', async () => {
    const { pacer, clock } = pacerOf();
    const { left, ask } = queue(pacer, clock);
    void ask('refused');
    await settle();
    const [{ departure } = { departure: { startedAt: 0, endedAt: undefined } }] = left;
    pacer.recordEnd(departure, { state: 'throttled', retryAfterMs: 5_000 });
    void ask('held');
    expect(pacer.perSecond).toBe(0);
    expect(pacer.sustainedPerSecond).toBeGreaterThan(0);
    expect(pacer.waitUntil).toBe(5_000);
    await clock.advance(4_999);
    expect(left).toHaveLength(1);
    await clock.advance(2);
    expect(left.map(({ name }) => name)).toEqual(['refused', 'held']);
  });

  test('allows for long what it did before, for as long as everything is rejected', async () => {
    const { pacer, clock } = pacerOf();
    const { left, ask } = queue(pacer, clock);
    /** Asks, and is answered an hour later. */
    const answered = async (name: string, verdict: Parameters<RequestQueue['recordEnd']>[1]) => {
      void ask(name);
      await clock.advance(3_600_000);
      const last = left.at(-1);
      if (last !== undefined) pacer.recordEnd(last.departure, verdict);
      return last?.name;
    };
    for (let taken = 0; taken < 20; taken += 1) await answered('accepted', TAKEN);
    const before = pacer.sustainedPerSecond;
    for (let refusals = 0; refusals < 48; refusals += 1) {
      // Each is the probe behind the hold of the one before.
      expect(await answered(`refused ${refusals}`, { state: 'throttled', retryAfterMs: undefined })).toMatch(/refused/);
      expect(pacer.sustainedPerSecond).toBe(before);
    }
    expect(await answered('taken again', TAKEN)).toBe('taken again');
    await clock.advance(60_000);
    expect(pacer.sustainedPerSecond).toBe(pacer.perSecond);
  });

  test('whoever stops waiting is let out at once and costs nobody a turn', async () => {
    const { pacer, clock } = pacerOf();
    const { left, ask } = queue(pacer, clock);
    const leaving = new AbortController();
    for (const name of ['a', 'b', 'c']) void ask(name);
    const out = ask('leaves', leaving.signal);
    void ask('d');
    await settle();
    leaving.abort();
    await out;
    await clock.advance(1_000);
    expect(left.map(({ name }) => name).join('')).toBe('abcd');
    expect(await pacer.acquire(AbortSignal.abort())).toBeUndefined();
  });

  test('spends the day’s budget with every request, whatever comes of it', async () => {
    const { pacer, clock } = pacerOf(1_000_000);
    const { ask } = queue(pacer, clock);
    for (const name of ['a', 'b']) void ask(name);
    await clock.advance(1_000);
    expect(pacer.dailyQuotaRemaining).toBe(999_998);
  });
});
