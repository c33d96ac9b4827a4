import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../../src/metrics/family.ts';
import { RequestError } from '../../../../../src/runtime/errors.ts';
import type { ServiceRequest } from '../../../../../src/transport/json-client.ts';
import { ManualClock } from '../../../../harness/manual-clock.ts';
import { every5m, FakePortal, MINUTE, type Reply, taskOf } from '../fake-portal.ts';

const HOUR = 60 * MINUTE;
const START = Date.UTC(2026, 2, 2);

/** A portal with one series of one appliance, polled by hand. */
class Portal {
  /** The periods of the requests since the last poll, in minutes ago. */
  asked: string[] = [];
  /** The status instead of a response to a period. */
  fails = (_from: number, _to: number): number | 'aborted' | undefined => undefined;
  /** The bins of the account, whatever is asked for, and from when to when it has some. */
  binMs = MINUTE;
  has = { from: START, to: Number.POSITIVE_INFINITY };
  readonly clock = new ManualClock(START + 48 * HOUR);
  readonly #task;

  constructor(binSeconds = 60) {
    const portal = new FakePortal((request) => this.#reply(request), this.clock);
    const collector = portal.collector({
      series: every5m('cpu_utilization'),
      serials: ['00000000-0000-4000-8000-000000000001'],
      binSeconds,
      lookbackMs: Math.max(15 * MINUTE, binSeconds * 1000),
    });
    this.#task = taskOf(collector, 'cpu_utilization');
  }

  get now(): number {
    return this.clock.now();
  }

  /** Polls once; returns the time of the exposed values, and what history got, all in minutes before now. */
  async poll(sinceMinutesAgo?: number) {
    this.asked = [];
    const since = sinceMinutesAgo === undefined ? undefined : this.now - sinceMinutesAgo * MINUTE;
    const { samples, empty, minutes } = await this.#task.poll(new AbortController().signal, since);
    const ago = (time: number) => (this.now - time) / MINUTE;
    const [exposed] = [...samples].filter(({ name }) => name.endsWith('timestamp_seconds'));
    const bins = [...(minutes?.bins ?? [])].map(({ at }) => ago(at));
    return {
      exposed: exposed && ago(exposed.value * 1000),
      empty,
      bins,
      until: minutes && ago(minutes.until),
      unreadUntil: minutes?.unreadUntil && ago(minutes.unreadUntil),
    };
  }

  /** Polls for history; returns the times that it got, how many minutes were skipped, and how many polls failed. */
  async catchUp(sinceMinutesAgo: number, polls: number) {
    let cursor = this.now - sinceMinutesAgo * MINUTE;
    const times: number[] = [];
    let [failed, unread] = [0, 0];
    for (let left = polls; left > 0; left -= 1) {
      const { bins, unreadUntil } = await this.poll((this.now - cursor) / MINUTE).catch(() => {
        failed += 1;
        return { bins: [], unreadUntil: undefined };
      });
      if (unreadUntil !== undefined) {
        unread += (this.now - cursor) / MINUTE - unreadUntil;
        cursor = this.now - unreadUntil * MINUTE;
      }
      for (const at of bins.map((ago) => this.now - ago * MINUTE)) if (at > cursor) times.push(at);
      cursor = Math.max(cursor, ...times);
      await this.clock.advance(5 * MINUTE);
    }
    return { times, failed, unread };
  }

  #reply({ json }: ServiceRequest): Reply {
    const { period } = Object(json) as { period: string };
    const [start = '', end] = period.split('/');
    const seconds = Number(/^PT(\d+)/.exec(start)?.[1]) * (start.endsWith('M') ? 60 : 1);
    const from = end === undefined ? this.now - seconds * 1000 : Date.parse(start);
    const to = end === undefined ? this.now : Date.parse(end);
    this.asked.push(end === undefined ? period : `${(this.now - from) / MINUTE}-${(this.now - to) / MINUTE}`);
    const status = this.fails(from, to);
    if (status === 'aborted') throw new RequestError('aborted', 'stopped');
    if (status !== undefined) return { status };
    const items: JsonObject[] = [];
    const reported = Math.min(to, this.has.to, this.now - 6 * MINUTE);
    for (
      let time = Math.ceil(Math.max(from, this.has.from) / this.binMs) * this.binMs;
      time < reported;
      time += this.binMs
    ) {
      items.push({ time, cpu_usage: '5' });
    }
    return { items };
  }
}

test.each<[string, number | undefined, readonly string[], readonly unknown[]]>([
  ['nothing, takes the usual request', undefined, ['PT15M'], [undefined, undefined, undefined]],
  ['recent minutes only, takes the usual request', 12, ['PT15M'], [15, 7, 0]],
  ['six hours, takes one request', 360, ['360-0'], [360, 7, 0]],
  ['older minutes, takes a second request, of a day at most', 2160, ['PT15M', '2160-720'], [2160, 721, 721]],
])('history that needs %s, and the exposition gets the newest minute', async (_, since, asked, expected) => {
  const portal = new Portal();
  const { exposed, bins, until } = await portal.poll(since);
  expect(portal.asked).toEqual(asked);
  expect([exposed, bins[0], bins.at(-1), until]).toEqual([7, ...expected]);
});

test('an appliance whose newest record is three hours old has nothing current, whatever history requests', async () => {
  const portal = new Portal();
  portal.has.to = portal.now - 3 * HOUR;
  expect(await portal.poll(300)).toMatchObject({ exposed: undefined, empty: true });
});

test('a long period that the stop of the program interrupts is no failure of the period', async () => {
  const portal = new Portal();
  portal.fails = (from, to) => (to - from > HOUR ? 'aborted' : undefined);
  await expect(portal.poll(600)).rejects.toThrow('stopped');
});

test('a long period of which the portal never returns three hours is skipped and reported as unread, and the rest arrives', async () => {
  const portal = new Portal();
  const bad = portal.now - 10 * HOUR;
  portal.fails = (from, to) => (from < bad + 3 * HOUR && to > bad ? 500 : undefined);
  const { times, failed, unread } = await portal.catchUp(20 * 60, 30);
  expect(failed).toBe(0);
  expect(unread).toBe(7 * 60);
  expect(times.length).toBe(20 * 60 - unread + 29 * 5 - 7);
});

test('a long period of which the service does not return anything because of its limits is not skipped', async () => {
  const portal = new Portal();
  portal.fails = (from, to) => (to - from > 15 * MINUTE ? 429 : undefined);
  for (let polls = 0; polls < 10; polls += 1) expect((await portal.poll(600)).unreadUntil).toBeUndefined();
});

test('the usual period is halved after a 413, and whole again after a success', async () => {
  const portal = new Portal();
  let requests = 0;
  portal.fails = () => (requests++ === 0 ? 413 : undefined);
  await portal.poll();
  expect(portal.asked).toEqual(['PT15M', 'PT450S']);
  await portal.poll();
  await portal.poll();
  expect(portal.asked).toEqual(['PT15M']);
});

test.each<[string, number, number, number, number]>([
  ['returns bins of five minutes instead of one', 60, 5 * MINUTE, 24 * HOUR, 500],
  ['returns bins of one minute instead of ten', 600, MINUTE, 24 * HOUR, 500],
  ['returns bins of an hour, as requested, for two hours at most', 3600, HOUR, 2 * HOUR, 500],
  ['returns 408 for more than four hours', 60, MINUTE, 4 * HOUR, 408],
  ['returns 413 for more than three hours', 60, MINUTE, 3 * HOUR, 413],
  ['returns 422 for more than two hours', 60, MINUTE, 2 * HOUR, 422],
])('an account that %s: history gets each of its bins once, and no poll fails', async (...row) => {
  const [, binSeconds, binMs, longestMs, status] = row;
  const portal = new Portal(binSeconds);
  portal.binMs = binMs;
  portal.fails = (from, to) => (to - from > longestMs ? status : undefined);
  const { times, unread, failed } = await portal.catchUp(30 * 60, 100);
  expect([times[0], unread, failed]).toEqual([START + 18 * HOUR + binMs, 0, 0]);
  for (const [index, time] of times.slice(1).entries()) expect(time - (times[index] ?? 0)).toBe(binMs);
  expect(portal.now - (times.at(-1) ?? 0)).toBeLessThan(20 * MINUTE + binMs);
});
