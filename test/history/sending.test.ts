import { expect, test } from 'vitest';
import { deliver } from '../../src/history/receiver.ts';
import { RemoteWrite } from '../../src/history/remote-write.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { going, noLog } from '../support/mock-api.ts';
import { MemoryReceiver } from './memory-receiver.ts';
import { pointsSince } from './points.ts';

const MINUTE_MS = 60_000;
const START = Date.UTC(2026, 2, 2, 6);

/** Remote write that has been asked so many minutes ago, and an answer with every minute since of some series. */
function sending(minutes: number) {
  const clock = new ManualClock(START);
  const receiver = new MemoryReceiver();
  const settings = { labels: {}, catchUpMs: 2 * minutes * MINUTE_MS, isExposedToo: false, binMs: MINUTE_MS };
  const parts = { clock, random: () => 1, log: noLog };
  const remote = new RemoteWrite(
    { ...settings, sweepMs: 5 * MINUTE_MS, lookbackMs: 15 * MINUTE_MS },
    receiver.send,
    parts,
  );
  const since = START - minutes * MINUTE_MS;
  const accept = (task: string, series: number) => {
    remote.wantedSince(task, since + 15 * MINUTE_MS);
    const samples = Array.from({ length: minutes * series }, (_, index) => {
      const at = (since + Math.floor(index / series) * MINUTE_MS) / 1000;
      return { name: 'm', labels: { task, of: String(index % series) }, value: index, at };
    });
    return remote.accept(
      { id: task, api: 'portal' },
      { samples: [], points: pointsSince(since, START, samples), drops: new Map(), empty: false },
    );
  };
  return { clock, receiver, remote, accept };
}

test('the points that wait are bounded: those that do not fit are asked for again', async () => {
  const { remote, accept } = sending(3_000);
  for (const task of ['a', 'b']) await accept(task, 50);
  expect(remote.status().waiting).toBeLessThan(200_000);
  expect(remote.status().waiting).toBeGreaterThan(100_000);
});

test.each([
  ['an hour that is missing is', 60, 5 * MINUTE_MS],
  ['the usual minutes are', 15, 1_000],
])('%s collected before it is sent, so that all series are sent in the order of time', async (_, minutes, ms) => {
  const { clock, receiver, remote, accept } = sending(minutes);
  void remote.run(going);
  await accept('a', 1);
  await clock.advance(ms - 1);
  expect(receiver.requests).toEqual([]);
  await clock.advance(2);
  expect(receiver.requests.length).toBeGreaterThan(0);
});

test.each([
  [500, 'too old sample', 'too_old'],
  [400, 'out of bounds', 'too_old'],
  [400, 'err-mimir-sample-out-of-order', 'out_of_order'],
  [400, 'duplicate sample for timestamp', 'out_of_order'],
  [413, '', 'too_large'],
  [422, 'no', 'rejected'],
])('%d %j of a receiver is for good, as %s', async (status, text, reason) => {
  const send = () => Promise.resolve({ status, headers: {}, text });
  expect(await deliver(send, [], () => 0, going)).toMatchObject({ state: 'refused', reason });
});
