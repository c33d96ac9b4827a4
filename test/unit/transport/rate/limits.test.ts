import { expect, test } from 'vitest';
import { type Attempt, type LimitSettings, type Sender, ServiceLimits } from '../../../../src/transport/rate/limits.ts';
import { ManualClock } from '../../../harness/manual-clock.ts';

const LIMIT = { limit: { requests: 300, windowMs: 30_000 }, dailyLimit: undefined, maxPerMs: 0.01, concurrency: 8 };

const done: Attempt<string> = { state: 'succeeded', value: 'done' };
const failed = (repeats: number): Attempt<string> => ({ state: 'failed', error: new Error('503'), repeats });
const throttled = (retryAfterMs?: number, repeats = 2): Attempt<string> => ({
  state: 'throttled',
  error: new Error('429'),
  repeats,
  retryAfterMs,
});

/** A service that allows ten requests a second. `sent` has the name and the time of each request. */
function serviceOf(settings: Partial<LimitSettings> = {}, latencyMs = 0) {
  const clock = new ManualClock();
  const limits = new ServiceLimits({ ...LIMIT, ...settings }, { clock, random: () => 0 });
  const sent: { readonly name: string; readonly at: number }[] = [];
  /** Sends a request that gets these responses, the last one for ever. Resolves with its value or error. */
  const send = (name: string, responses = [done], sender: Sender = {}, stop = new AbortController()) => {
    let count = 0;
    const attempt = async () => {
      sent.push({ name, at: clock.monotonic() });
      count += 1;
      if (latencyMs > 0) await clock.sleep(latencyMs);
      return responses[Math.min(count, responses.length) - 1] ?? done;
    };
    return limits.send(attempt, sender, stop.signal).catch((error: unknown) => error);
  };
  const names = () => sent.map(({ name }) => name).join(' ');
  return { clock, limits, sent, send, names };
}

test('requests that wait leave one by one at the request rate, in the order in which they came', async () => {
  const { clock, sent, send, names } = serviceOf();
  for (const name of ['a', 'b', 'c', 'd', 'e']) void send(name);
  await clock.advance(1_000);
  expect(names()).toBe('a b c d e');
  // The first ones may leave within the slack for late timers; then one leaves every 100 ms.
  expect((sent[4]?.at ?? 0) - (sent[3]?.at ?? 0)).toBeCloseTo(100, 0);
});

test('requests that wait are overtaken by those with priority, also while as many wait as may be in flight', async () => {
  const { clock, send, names } = serviceOf({ concurrency: 2 });
  for (const name of ['a', 'b', 'c', 'd']) void send(name);
  void send('token', [done], { hasPriority: true });
  await clock.advance(1_000);
  expect(names()).toBe('a token b c d');
});

test('requests wait for a free place before they are counted, and leave as soon as one is free', async () => {
  const { clock, limits, sent, send } = serviceOf({ concurrency: 2, dailyLimit: 1_000_000 }, 5_000);
  await clock.advance(10_000);
  for (const name of ['a', 'b', 'c', 'd']) void send(name);
  await clock.advance(4_000);
  expect([sent.length, limits.requestsInFlight, limits.dailyQuotaRemaining]).toEqual([2, 2, 999_998]);
  await clock.advance(20_000);
  expect(sent.map(({ at }) => at)).toEqual([10_000, 10_000, 15_000, 15_000]);
  expect([limits.requestsInFlight, limits.dailyQuotaRemaining]).toEqual([0, 999_996]);
});

test('requests that wait, also to be repeated, are given up at once by a stop, and cost nobody a turn', async () => {
  const { clock, send, names } = serviceOf();
  const stop = new AbortController();
  const failing = send('a', [failed(2)], {}, stop);
  for (const name of ['b', 'c']) void send(name);
  const stopped = send('stopped', [done], {}, stop);
  void send('d');
  await clock.advance(0);
  stop.abort(new Error('stop'));
  expect(await Promise.all([failing, stopped])).toEqual([new Error('stop'), new Error('stop')]);
  await clock.advance(1_000);
  expect(names()).toBe('a b c d');
  expect(await send('late', [done], {}, stop)).toEqual(new Error('stop'));
});

test('after a 429 nothing is sent until Retry-After is over, and then the rejected request again, twice at most', async () => {
  const { clock, limits, send, sent } = serviceOf();
  const result = send('rejected', [throttled(5_000), done]);
  await clock.advance(1_000);
  void send('other');
  expect([limits.perSecond, limits.waitUntil]).toEqual([0, 5_000]);
  expect(limits.sustainedPerSecond).toBeGreaterThan(0);
  await clock.advance(3_999);
  expect(sent).toHaveLength(1);
  await clock.advance(1_001);
  expect(sent.map(({ name }) => name)).toEqual(['rejected', 'rejected', 'other']);
  expect([await result, limits.waitUntil]).toEqual(['done', undefined]);
  expect(await clock.through(send('a', [throttled(1_000)]), 1_000)).toEqual(new Error('429'));
  expect(sent).toHaveLength(6);
});

test('after a 429 without Retry-After, a probe that gets no response makes room for the next one', async () => {
  const { clock, send, names } = serviceOf();
  void send('a', [throttled(), { state: 'lost', error: new Error('reset'), repeats: 0 }]);
  await clock.advance(500);
  void send('b');
  await clock.advance(5_000);
  expect(names()).toBe('a a b');
});

test.each([true, false])('an account is throttled if one request in five gets a 429: %j', async (isThrottled) => {
  const { clock, limits, send } = serviceOf();
  for (let request = 0; request < 30; request += 1) {
    void send('a', [isThrottled && request % 5 === 0 ? throttled(1_000, 0) : done]);
    await clock.advance(30_000);
  }
  expect(limits.isThrottled).toBe(isThrottled);
});

test('a failed request is sent again after half a second, then a second, at least half of it, as often as its last failure allows', async () => {
  const { clock, send, sent } = serviceOf({ maxPerMs: 1 });
  expect(await clock.through(send('a', [failed(2), failed(2), done]), 50)).toBe('done');
  expect(sent.map(({ at }) => at)).toEqual([0, 250, 750]);
  expect(await clock.through(send('a', [failed(2), failed(1), done]), 50)).toEqual(new Error('503'));
});

test('a failed request is repeated once for ten successes, and twenty times at most, so an outage doubles no load', async () => {
  const { clock, send, sent } = serviceOf({ maxPerMs: 1, limit: { requests: 10_000, windowMs: 30_000 } });
  const requestsFor = async (count: number, response: Attempt<string>) => {
    const before = sent.length;
    for (let index = 0; index < count; index += 1) void send('a', [response]);
    await clock.advance(30_000);
    return sent.length - before;
  };
  expect(await requestsFor(30, failed(2))).toBe(30 + 20);
  expect([await requestsFor(109, done), await requestsFor(30, failed(2))]).toEqual([109, 30 + 10]);
  expect([await requestsFor(400, done), await requestsFor(30, failed(2))]).toEqual([400, 30 + 20]);
});

test('an appliance for which alone the service returns 429 waits alone, then gets one request, and all when that is accepted', async () => {
  const { clock, limits, send, sent, names } = serviceOf({ concurrency: 1 }, 50);
  const [ofA, ofB] = [{ key: 'a' }, { key: 'b' }];
  const rejected = send('a', [throttled(1_000), throttled(10_000)], ofA);
  void send('b', [done], ofB);
  expect([await clock.through(rejected, 50), names()]).toEqual([new Error('429'), 'a b a']);
  expect(limits.waitUntil).toBeUndefined();
  const until = (sent.at(-1)?.at ?? 0) + 50 + 10_000;
  const message = expect.stringContaining('429 for a alone, which waits for 10 s');
  expect(await send('a', [done], ofA)).toMatchObject({ name: 'PostponedError', until, message });
  void send('b', [done], ofB);
  await clock.advance(150);
  expect(names()).toBe('a b a b');
  await clock.advance(until - clock.monotonic());
  const probe = send('a', [done], ofA);
  expect(await send('a', [done], ofA)).toMatchObject({ name: 'PostponedError', until: until + 60_000 });
  await clock.advance(200);
  expect(await probe).toBe('done');
  expect(await clock.through(send('a', [done], ofA), 100)).toBe('done');
});
