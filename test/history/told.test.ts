import { afterEach, describe, expect, test } from 'vitest';
import type { PostAnswer } from '../../src/transport/post.ts';
import { settle } from '../support/manual-clock.ts';
import { MemoryReceiver } from './memory-receiver.ts';
import { MINUTE_MS, Play, type PlayOptions } from './play.ts';
import { expectTold, ONE_SERIES } from './told.ts';

const START = Date.UTC(2026, 2, 2, 6);
const HOUR_MS = 60 * MINUTE_MS;
/** The first minute of history: the first whole one of the first answer. */
const FIRST = START - 14 * MINUTE_MS;
const plays: Play[] = [];

afterEach(async () => {
  for (const play of plays.splice(0)) await play.close();
});

async function begin(receiver: MemoryReceiver, more: Partial<PlayOptions> = {}): Promise<Play> {
  const play = await Play.begin({ appliances: 2, series: ONE_SERIES, start: START, send: receiver.send, ...more });
  plays.push(play);
  return play;
}

test('every minute arrives once, in order, at its own time, at one request for each poll', async () => {
  const receiver = new MemoryReceiver();
  const play = await begin(receiver, { series: ['cpu_utilization', 'load_average'] });
  const polls = () => play.standIn.requests.filter(({ path }) => path.includes('/telemetry/')).length;
  const asked = polls();
  await play.hours(2);
  expect(polls() - asked).toBe(2 * 2 * 24);
  expect(await expectTold(play, receiver, FIRST)).toBe(0);
  const [first] = receiver.requests.at(-1)?.series ?? [];
  expect(first?.labels.map(([name]) => name)).toEqual(['__name__', 'filer', 'instance', 'job', 'serial']);
  expect(play.counts).toEqual({ droppedPoints: {}, lost: {} });
});

test('an exporter that was killed sends some minutes again, which the receiver refuses and nothing is lost', async () => {
  const receiver = new MemoryReceiver();
  const play = await begin(receiver);
  await play.hours(1);
  const saved = play.remote.cursors.state();
  await play.round();
  await play.restart(saved);
  await play.hours(1);
  expect(await expectTold(play, receiver, FIRST)).toBe(0);
  expect(Object.keys(play.counts.droppedPoints)).toEqual(['out_of_order']);
});

test('a receiver that asks to wait is asked again with the same points, and a wrong password loses nothing', async () => {
  const receiver = new MemoryReceiver();
  const play = await begin(receiver);
  for (const status of [503, 429, 401, 404]) {
    receiver.answer = () => ({ status, headers: { 'retry-after': '7' }, text: 'later' });
    await play.poll();
    const { signal } = new AbortController();
    expect(await play.remote.flush(signal)).toMatchObject({ afterMs: 7_000, text: `${status}: later` });
    expect(play.remote.isWell).toBe(false);
  }
  receiver.answer = undefined;
  await play.hours(1);
  expect(await expectTold(play, receiver, FIRST)).toBe(0);
  expect(play.counts.droppedPoints).toEqual({});
});

const gone = { polls: false, sends: false };
const down: () => PostAnswer = () => ({ status: 503, headers: {}, text: 'later' });

describe('a bin', () => {
  test.each([
    ['15 minutes', 15, 15],
    ['an hour', 60, 60],
    ['an hour, in a longer period', 60, 120],
  ])('of %s arrives once it is whole', async (_, minutes, lookback) => {
    const receiver = new MemoryReceiver();
    const binMs = minutes * MINUTE_MS;
    const more = { binSeconds: 60 * minutes, lookbackMs: lookback * MINUTE_MS, series: ['cache_hits_misses'] };
    const play = await begin(receiver, more);
    await play.hours(8);
    await play.hours(2, gone);
    await play.restart();
    await play.hours(4);
    expect(await expectTold(play, receiver, START, { binMs })).toBe(0);
    const [points] = receiver.points.values();
    expect(points?.size).toBeGreaterThanOrEqual((13 * HOUR_MS) / binMs);
  });
});

describe('a gap of which the portal gives no more than two hours at once', () => {
  const tooLarge: NonNullable<Play['refuse']> = ({ startMs, endMs }) =>
    endMs - startMs > 2 * HOUR_MS + MINUTE_MS ? 413 : undefined;

  async function afterHours(hours: number, refuse: Play['refuse']) {
    const receiver = new MemoryReceiver();
    const play = await begin(receiver);
    await play.hours(1);
    await play.hours(hours, gone);
    await play.restart();
    play.refuse = refuse;
    return { receiver, play };
  }

  test('stays open while the older part fails, and is closed after that', async () => {
    const { receiver, play } = await afterHours(5, undefined);
    const healed = play.clock.now() + 12 * MINUTE_MS;
    const old = play.clock.now() - 3 * HOUR_MS;
    play.refuse = (period) => {
      if (period.startMs < old && play.clock.now() < healed) return tooLarge(period) ?? 500;
      return tooLarge(period);
    };
    await play.hours(1);
    expect(await expectTold(play, receiver, FIRST)).toBe(0);
  });

  test('is told as lost if that part fails for more than an hour, and all other minutes arrive', async () => {
    const { receiver, play } = await afterHours(4, undefined);
    const old = play.clock.now() - 3 * HOUR_MS;
    play.refuse = (period) => tooLarge(period) ?? (period.startMs < old ? 500 : undefined);
    await play.hours(2);
    expect(await expectTold(play, receiver, FIRST)).toBeGreaterThan(60);
    expect(Object.keys(play.counts.lost)).toEqual(['unread']);
  });

  test('is told as lost where the portal rejects every older period', async () => {
    const { receiver, play } = await afterHours(5, undefined);
    const oldest = play.clock.now() - 2 * HOUR_MS;
    play.refuse = ({ startMs }) => (startMs < oldest ? 422 : undefined);
    await play.hours(1);
    const lost = await expectTold(play, receiver, FIRST);
    expect(lost).toBeGreaterThan(2 * 150);
    expect(lost).toBeLessThan(2 * 200);
    expect(Object.keys(play.counts.lost)).toEqual(['rejected']);
  });

  test('is closed as far back as REMOTE_WRITE_CATCH_UP, and told beyond', async () => {
    const { receiver, play } = await afterHours(9, tooLarge);
    await play.hours(1);
    const lost = await expectTold(play, receiver, FIRST);
    expect(lost).toBeGreaterThan(2 * 170);
    expect(lost).toBeLessThan(2 * 200);
    expect(Object.keys(play.counts.lost)).toEqual(['catch_up']);
  });
});

describe('while the receiver is down', () => {
  test('at the first start and for longer than REMOTE_WRITE_CATCH_UP, what is lost is told', async () => {
    const receiver = new MemoryReceiver();
    receiver.answer = down;
    const play = await begin(receiver, { catchUpMs: 2 * HOUR_MS });
    await play.hours(3);
    await play.restart();
    await play.hours(5);
    receiver.answer = undefined;
    await play.hours(1);
    expect(await expectTold(play, receiver, FIRST)).toBeGreaterThan(2 * 200);
  });

  test.each([
    ['a restart', true],
    ['no restart', false],
  ])('nothing of an appliance that joins is lost, with %s', async (_, restarts) => {
    const receiver = new MemoryReceiver();
    const play = await begin(receiver);
    await play.hours(1);
    receiver.answer = down;
    await play.hours(0.5);
    const joined = play.clock.now();
    play.standIn.addAppliance();
    if (restarts) await play.hours(0.5, gone);
    else await play.hours(0.5);
    if (restarts) await play.restart();
    else await play.discover();
    await play.hours(100 / 60);
    receiver.answer = undefined;
    await play.hours(1);
    expect(receiver.points.size).toBe(3);
    expect(await expectTold(play, receiver, FIRST)).toBe(0);
    expect(
      Math.min(...[...receiver.points.values()].map((points) => Math.min(...points.keys())).slice(2)),
    ).toBeLessThan(joined + 2 * MINUTE_MS);
  });
});

test.each([-90, -30, -15, -3, 3, 15, 90])(
  'a clock of the exporter that is %d minutes from the portal’s loses nothing, over an outage of two hours',
  async (minutes) => {
    const receiver = new MemoryReceiver();
    const play = await begin(receiver, { aheadMs: minutes * MINUTE_MS });
    await play.hours(2);
    await play.hours(2, gone);
    await play.restart();
    await play.hours(1);
    // It is corrected.
    play.aheadMs = 0;
    await play.hours(1);
    expect(await expectTold(play, receiver, FIRST)).toBe(0);
    expect(play.counts.droppedPoints).toEqual({});
  },
);

describe('a receiver that rejects everything', () => {
  const rejected: () => PostAnswer = () => ({ status: 400, headers: {}, text: 'no tenant' });

  test('is asked seldom, and nothing is dropped', async () => {
    const receiver = new MemoryReceiver();
    let requests = 0;
    receiver.answer = () => {
      requests += 1;
      return rejected();
    };
    const play = await begin(receiver, { appliances: 30, series: ['cpu_utilization', 'load_average'] });
    const stop = new AbortController();
    await play.poll();
    const running = play.remote.run(stop.signal);
    for (let second = 0; second < 10; second += 1) {
      await play.clock.advance(1_000);
      await settle();
    }
    expect(requests).toBeLessThan(60);
    for (let round = 0; round < 24; round += 1) {
      await play.poll();
      await play.clock.advance(5 * MINUTE_MS);
    }
    expect(requests).toBeLessThan(1_500);
    expect(play.remote.isWell).toBe(false);
    expect(play.counts.droppedPoints).toEqual({});
    stop.abort();
    await running;
    receiver.answer = undefined;
    await play.hours(1);
    expect(play.counts).toEqual({ droppedPoints: {}, lost: {} });
    for (const points of receiver.points.values()) expect(Math.min(...points.keys())).toBe(FIRST);
  });

  test('for some appliances alone gets those of all others, and what it rejects is told', async () => {
    const receiver = new MemoryReceiver();
    const play = await begin(receiver, {
      appliances: 40,
      send: async (headers, body, signal) => {
        const copy = new MemoryReceiver();
        await copy.send(headers, body, signal);
        const isBad = [...copy.points.keys()].some((series) => bad.has(series));
        return isBad
          ? { status: 400, headers: {}, text: 'label value too long' }
          : receiver.send(headers, body, signal);
      },
    });
    const bad = new Set<string>();
    const truth = await play.truth(FIRST, START);
    for (const series of [...truth.keys()].slice(0, 25)) bad.add(series);
    const stop = new AbortController();
    const running = play.remote.run(stop.signal);
    await play.hours(4, { sends: false });
    stop.abort();
    await running;
    expect(receiver.points.size).toBe(15);
    for (const points of receiver.points.values()) expect(Math.min(...points.keys())).toBe(FIRST);
    const newest = Math.max(...[...receiver.points.values()].flatMap((points) => [...points.keys()]));
    expect(newest).toBeGreaterThan(play.clock.now() - 20 * MINUTE_MS);
    expect(play.counts.droppedPoints.rejected).toBeGreaterThan(100);
    expect(play.counts.lost).toEqual({});
  });
});
