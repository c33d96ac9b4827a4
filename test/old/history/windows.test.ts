import { expect, test } from 'vitest';
import { Receiver } from '../harness/receiver.ts';
import { HOUR, MINUTE, World } from '../harness/world.ts';
import { differences, minutesOf, type Points } from './minutes.ts';

const START = Date.UTC(2026, 2, 2, 6);

const SERIES = ['cpu_utilization'];

/** One series of one appliance, of which some minutes have been sent. */
async function begin() {
  const receiver = new Receiver();
  const world = await World.begin({
    appliances: 1,
    series: SERIES,
    state: true,
    at: START,
    lookMs: 30 * MINUTE,
    receiver: receiver.send,
    environment: { PORTAL_COLLECTORS: 'telemetry' },
  });
  await world.passes(35 * MINUTE);
  return { world, receiver };
}

/** Loses nothing: what the portal has from the start until half an hour ago is what the receiver has. */
async function expectWhole({ world, receiver }: Awaited<ReturnType<typeof begin>>, from = START) {
  const to = world.clock.now() - 30 * MINUTE;
  const held: Points = new Map();
  for (const [key, times] of receiver.series)
    held.set(key, new Map([...times].filter(([time]) => time >= from && time <= to)));
  const minutes = await minutesOf(world, { from, to, series: SERIES });
  expect(minutes.size).toBeGreaterThan(0);
  expect(differences(minutes, held).slice(0, 3)).toEqual([]);
}

/** How long history has a gap for a reason, in minutes. */
async function lostFor(world: World, reason: string): Promise<number> {
  const { scrape } = await world.sees();
  return (scrape.value('filer_exporter_remote_write_lost_seconds_total', { reason }) ?? 0) / 60;
}

test('while all is well, the request is the usual one', async () => {
  const { world, receiver } = await begin();
  expect(new Set(world.sent.periods)).toEqual(new Set(['PT15M']));
  await expectWhole({ world, receiver });
});

test('after an outage of five hours one request covers the gap and the present', async () => {
  const { world, receiver } = await begin();
  await world.restarts(5 * HOUR);
  const before = world.sent.periods.length;
  await world.passes(HOUR);
  expect(world.sent.periods.length - before).toBeLessThanOrEqual(13);
  await expectWhole({ world, receiver });
});

test('long periods that are too much for the portal are halved, and no poll fails', async () => {
  const { world, receiver } = await begin();
  const end = world.refuses(({ startMs, endMs }) => (endMs - startMs > 30 * MINUTE ? 408 : undefined));
  await world.restarts(2.5 * HOUR);
  for (let round = 0; round < 24; round += 1) {
    const { scrape } = await world.passes(5 * MINUTE);
    const newest = scrape.value('filer_appliance_series_timestamp_seconds') ?? 0;
    expect(world.clock.now() - 1000 * newest).toBeLessThan(12 * MINUTE);
  }
  end();
  await expectWhole({ world, receiver });
});

test('one response of seven with 408 delays catching up and does not end it', async () => {
  const { world, receiver } = await begin();
  let requests = 0;
  const end = world.refuses(() => {
    requests += 1;
    return requests % 7 === 0 ? 408 : undefined;
  });
  await world.restarts(5 * HOUR);
  await world.passes(2 * HOUR);
  end();
  await expectWhole({ world, receiver });
});

test('a period that the portal never returns is given up after an hour, and the rest arrives', async () => {
  const { world, receiver } = await begin();
  const [from, to] = [START + 80 * MINUTE, START + 100 * MINUTE];
  const end = world.refuses(({ startMs, endMs }) => (startMs < to && endMs > from ? 500 : undefined));
  await world.restarts(2 * HOUR);
  await world.passes(3 * HOUR);
  end();
  const lost = await lostFor(world, 'unread');
  expect(lost).toBeGreaterThanOrEqual(20);
  expect(lost).toBeLessThan(35);
  await expectWhole({ world, receiver }, to + 15 * MINUTE);
});

test('where the portal rejects everything before a moment, history begins there', async () => {
  const { world, receiver } = await begin();
  const first = world.clock.now() + 200 * MINUTE;
  const end = world.refuses(({ startMs }) => (startMs < first ? 422 : undefined));
  await world.restarts(5 * HOUR);
  await world.passes(2 * HOUR);
  end();
  const lost = await lostFor(world, 'rejected');
  expect(lost).toBeGreaterThan(195);
  expect(lost).toBeLessThan(215);
  await expectWhole({ world, receiver }, first + 10 * MINUTE);
});

test('an outage of the portal costs no further request', async () => {
  const { world, receiver } = await begin();
  const heal = world.fails({ kind: 'status', status: 503, operation: 'cpu_utilization' });
  const before = world.sent.periods.length;
  await world.passes(2 * HOUR);
  const failing = world.sent.periods.length - before;
  heal();
  // 24 polls; the first ones repeat their request, as without history.
  expect(failing).toBeLessThanOrEqual(26);
  await world.passes(HOUR);
  await expectWhole({ world, receiver });
});
