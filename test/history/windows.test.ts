import { expect, onTestFinished, test } from 'vitest';
import { Receiver } from '../harness/receiver.ts';
import { differences, MINUTE_MS, type Points, PortalPlay } from './portal-play.ts';

const START = Date.UTC(2026, 2, 2, 6);

async function begin() {
  const receiver = new Receiver();
  const play = await PortalPlay.begin({
    appliances: 1,
    series: ['cpu_utilization'],
    start: START,
    send: receiver.send,
  });
  onTestFinished(() => play.close());
  await play.hours(1);
  return { play, receiver };
}

/** Loses nothing: what the portal has from the start until half an hour ago is what the receiver has. */
async function expectWhole({ play, receiver }: Awaited<ReturnType<typeof begin>>, from = START) {
  const to = play.clock.now() - 30 * MINUTE_MS;
  const held: Points = new Map();
  for (const [key, times] of receiver.series)
    held.set(key, new Map([...times].filter(([time]) => time >= from && time <= to)));
  const truth = await play.truth(from, to);
  expect(truth.size).toBeGreaterThan(0);
  expect(differences(truth, held).slice(0, 3)).toEqual([]);
}

test('while all is well, the request is the usual one', async () => {
  const { play, receiver } = await begin();
  expect(new Set(play.periods)).toEqual(new Set(['PT15M']));
  await expectWhole({ play, receiver });
});

test('after an outage of five hours one request covers the gap and the present', async () => {
  const { play, receiver } = await begin();
  await play.hours(5, { polls: false, sends: false });
  const before = play.periods.length;
  await play.hours(1);
  expect(play.periods).toHaveLength(before + 12);
  await expectWhole({ play, receiver });
});

test('long periods that are too much for the portal are halved, and no poll fails', async () => {
  const { play, receiver } = await begin();
  await play.hours(5, { polls: false, sends: false });
  play.refuse = ({ startMs, endMs }) => (endMs - startMs > 30 * MINUTE_MS ? 408 : undefined);
  for (let round = 0; round < 48; round += 1) {
    expect(await play.poll()).toBe(0);
    await play.round({ polls: false });
  }
  await expectWhole({ play, receiver });
});

test('one response of seven with 408 delays catching up and does not end it', async () => {
  const { play, receiver } = await begin();
  await play.hours(5, { polls: false, sends: false });
  let requests = 0;
  play.refuse = () => {
    requests += 1;
    return requests % 7 === 0 ? 408 : undefined;
  };
  await play.hours(2);
  await expectWhole({ play, receiver });
});

test('a period that the portal never returns is given up after an hour, and the rest arrives', async () => {
  const { play, receiver } = await begin();
  await play.hours(4, { polls: false, sends: false });
  const [from, to] = [START + 110 * MINUTE_MS, START + 130 * MINUTE_MS];
  play.refuse = ({ startMs, endMs }) => (startMs < to && endMs > from ? 500 : undefined);
  await play.hours(5);
  const { lost } = play.remote.status();
  expect(lost.get('unread')).toBeGreaterThanOrEqual(20 * 60);
  expect(lost.get('unread')).toBeLessThan(35 * 60);
  await expectWhole({ play, receiver }, to + 15 * MINUTE_MS);
});

test('where the portal rejects everything before a moment, history begins there', async () => {
  const { play, receiver } = await begin();
  await play.hours(5, { polls: false, sends: false });
  const first = play.clock.now() - 100 * MINUTE_MS;
  play.refuse = ({ startMs }) => (startMs < first ? 422 : undefined);
  await play.hours(2);
  const { lost } = play.remote.status();
  expect(lost.get('rejected')).toBeGreaterThan(195 * 60);
  expect(lost.get('rejected')).toBeLessThan(215 * 60);
  await expectWhole({ play, receiver }, first + 10 * MINUTE_MS);
});

test('an outage of the portal costs no further request', async () => {
  const { play, receiver } = await begin();
  const heal = play.mocks.fail({ kind: 'status', status: 503, operation: 'cpu_utilization' });
  const before = play.periods.length;
  await play.hours(2);
  const failing = play.periods.length - before;
  heal();
  // 24 polls; the first ones repeat their request, as without history.
  expect(failing).toBeLessThanOrEqual(26);
  await play.hours(1);
  await expectWhole({ play, receiver });
});

test('an appliance that is gone leaves nothing behind', async () => {
  const { play } = await begin();
  expect(play.remote.cursors.size).toBe(1);
  for (const task of play.exposed.keys()) play.remote.withdraw(task);
  await play.clock.advance(25 * 60 * MINUTE_MS);
  play.remote.windowOf({ id: 'portal/another/cpu_utilization', now: () => play.clock.now() });
  expect(play.remote.cursors.size).toBe(1);
});
