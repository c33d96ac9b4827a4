import { afterEach, describe, expect, test } from 'vitest';
import { MemoryReceiver } from './memory-receiver.ts';
import { differences, MINUTE_MS, Play, type PlaySettings } from './play.ts';

const START = Date.UTC(2026, 2, 2, 6);
const SERIES = ['cpu_utilization', 'load_average'];
const plays: Play[] = [];

afterEach(async () => {
  for (const play of plays.splice(0)) await play.close();
});

async function begin(receiver: MemoryReceiver, more: Partial<PlaySettings> = {}): Promise<Play> {
  const play = await Play.begin({ appliances: 2, series: SERIES, start: START, send: receiver.send, ...more });
  plays.push(play);
  return play;
}

/** What the receiver has otherwise than the stand-in, but for the newest minutes. */
async function faults(play: Play, receiver: MemoryReceiver, from = START - 14 * MINUTE_MS): Promise<readonly string[]> {
  const to = (play.remote.cursors.newest ?? 0) - 10 * MINUTE_MS;
  const truth = await play.truth(from, to);
  expect(truth.size).toBe(8);
  const within = [...receiver.points].map(([series, points]) => {
    return [series, new Map([...points].filter(([time]) => time >= from && time <= to))] as const;
  });
  return differences(truth, new Map(within));
}

describe('remote write', () => {
  test('every minute arrives once, in order, at its own time, at one request for each poll', async () => {
    const receiver = new MemoryReceiver();
    const play = await begin(receiver);
    const asked = polls(play);
    await play.hours(2);
    expect(polls(play) - asked).toBe(2 * SERIES.length * 24);
    expect(await faults(play, receiver)).toEqual([]);
    const [first] = receiver.requests.at(-1)?.series ?? [];
    expect(first?.labels.map(([name]) => name)).toEqual(['__name__', 'filer', 'instance', 'job', 'serial']);
    expect(play.counts.droppedPoints).toEqual({});
  });

  test('one that was killed sends some minutes again, which the receiver refuses and nothing is lost', async () => {
    const receiver = new MemoryReceiver();
    const play = await begin(receiver);
    await play.hours(1);
    const saved = play.remote.cursors.state();
    await play.round();
    await play.restart(saved);
    await play.hours(1);
    expect(await faults(play, receiver)).toEqual([]);
    expect(Object.keys(play.counts.droppedPoints)).toEqual(['out_of_order']);
  });
});

test('a receiver that asks to wait is asked again with the same points, and a wrong password loses nothing', async () => {
  const receiver = new MemoryReceiver();
  const play = await begin(receiver);
  for (const status of [503, 429, 401, 404]) {
    receiver.answer = () => ({ status, headers: { 'retry-after': '7' }, text: 'later' });
    await play.poll();
    const { signal } = new AbortController();
    expect(await play.remote.flush(signal)).toEqual({ state: 'later', afterMs: 7_000, text: `${status}: later` });
    expect(play.remote.isWell).toBe(false);
  }
  receiver.answer = undefined;
  await play.hours(1);
  expect(await faults(play, receiver)).toEqual([]);
  expect(play.counts.droppedPoints).toEqual({});
});

/** How many requests for telemetry there were. */
function polls({ standIn }: Play): number {
  return standIn.requests.filter(({ path }) => path.includes('/telemetry/')).length;
}
