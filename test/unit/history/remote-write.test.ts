import { expect, test } from 'vitest';
import type { TimeSeries } from '../../../src/history/write-request.ts';
import { Fleet, HOUR, MINUTE, START } from '../../harness/history-fleet.ts';
import { status } from '../../harness/receiver.ts';

type Fault = NonNullable<Fleet['receiver']['fault']>;

const unreachable: Fault = () => ({ response: new Error('connection refused') });
const rejecting: Fault = () => ({ response: status(400, 'label value too long') });

const pointsOf = (request: readonly TimeSeries[]) => request.flatMap(({ points }) => points);

/** A fleet whose history has been sent for an hour. */
async function running(options: ConstructorParameters<typeof Fleet>[0] = {}): Promise<Fleet> {
  const fleet = new Fleet(options);
  await fleet.passes(HOUR);
  return fleet;
}

/** Plays half an hour, then a fault of the receiver, then half an hour in which it accepts again. */
async function played(fleet: Fleet, ms: number, fault: Fault): Promise<Fleet> {
  await fleet.passes(HOUR / 2);
  fleet.receiver.requests = [];
  fleet.receiver.fault = fault;
  await fleet.passes(ms);
  fleet.receiver.fault = undefined;
  await fleet.passes(HOUR / 2);
  return fleet;
}

function expectNothingLost(fleet: Fleet): void {
  expect({ missing: fleet.missing(), counted: fleet.counted }).toEqual({ missing: 0, counted: 0 });
}

/** Minutes of each task are lost, as many as these at least, and all of them are counted. */
function expectLost(fleet: Fleet, least: number, most = Number.POSITIVE_INFINITY): void {
  const missing = fleet.missing();
  expect(missing / fleet.tasks.length).toBeGreaterThanOrEqual(least);
  expect(missing / fleet.tasks.length).toBeLessThan(most);
  expect(fleet.counted).toBe(missing);
}

test.each([
  [250, 1, '2,000 points', 2_000],
  [2, 2, 'ten minutes', 2 * 2 * 10],
])('%i tasks of %i samples: every minute arrives once, in requests of at most %s', async (tasks, samples, _, most) => {
  const fleet = await played(new Fleet({ tasks, samples }), 20 * MINUTE, unreachable);
  expectNothingLost(fleet);
  expect(fleet.status.sent).toBe([...fleet.receiver.series.values()].reduce((sum, { size }) => sum + size, 0));
  const sizes = fleet.receiver.requests.map((request) => pointsOf(request).length);
  expect(Math.max(...sizes)).toBe(most);
  for (const request of fleet.receiver.requests) {
    const times = pointsOf(request).map(({ at }) => at);
    expect(Math.max(...times) - Math.min(...times)).toBeLessThan(10 * MINUTE);
  }
});

test('the receiver is away until the queue is full: nothing more is requested or dropped, and every minute arrives', async () => {
  const fleet = await running({ maxWaiting: 200 });
  await fleet.restarts(3 * HOUR, fleet.state);
  const before = fleet.polls;
  const newestThere = () => Math.max(...pointsOf(fleet.receiver.requests.flat()).map(({ at }) => at)) / 1000;
  const newestBefore = newestThere();
  fleet.receiver.fault = unreachable;
  await fleet.passes(2 * HOUR);
  expect([fleet.status.waiting, fleet.polls - before]).toEqual([200, 1]);
  expect(fleet.status.newestSeconds).toBe(newestBefore);
  fleet.receiver.fault = undefined;
  await fleet.passes(HOUR);
  expectNothingLost(fleet);
  expect(fleet.status.newestSeconds).toBe(newestThere());
  expect(newestThere()).toBeGreaterThan(newestBefore + HOUR / 1000);
});

test.each([401, 403, 404, 408, 500, 503])(
  'the receiver returns %i for the first hour: nothing is lost',
  async (code) => {
    const fleet = new Fleet();
    fleet.receiver.fault = () => ({ response: status(code) });
    await fleet.passes(HOUR);
    expect(fleet.status.responses.get(String(code))).toBe(76);
    // Until the receiver has a minute, the newest one is that before history begins.
    expect(fleet.status.newestSeconds).toBe((START - 14 * MINUTE) / 1000);
    fleet.receiver.fault = undefined;
    await fleet.passes(HOUR / 2);
    expectNothingLost(fleet);
    expect(fleet.log.lines.map(({ msg }) => msg)).toEqual([
      'The receiver of remote write did not accept points, which were kept to be sent again.',
      'The receiver of remote write accepted points again.',
    ]);
  },
);

test('the receiver asks for waits of 90 seconds for ten minutes: seven requests, and nothing is lost', async () => {
  const response = status(429, '', { 'retry-after': '90' });
  const fleet = await played(new Fleet(), 10 * MINUTE, () => ({ response }));
  expect(fleet.status.responses.get('429')).toBe(7);
  expectNothingLost(fleet);
});

test.each([true, false])(
  'the receiver stores and returns 500: nothing is lost; out-of-order window: %s',
  async (hasWindow) => {
    const fleet = new Fleet({ tasks: 40, hasWindow });
    await played(fleet, 7 * MINUTE, () => ({ response: status(500), stores: true }));
    expect(fleet.status.responses.get('400') ?? 0).toBe(hasWindow ? 0 : 1);
    expectNothingLost(fleet);
  },
);

test('the receiver never accepts three of forty appliances: the others lose nothing, and what is lost is counted', async () => {
  const fleet = new Fleet({ tasks: 40 });
  const bad = fleet.tasks.filter((_, index) => [3, 17, 30].includes(index));
  const isBad = ({ labels }: TimeSeries) => bad.some((task) => task.includes(`/${Object.fromEntries(labels).serial}/`));
  await played(fleet, 2 * HOUR, (request) => (request.some(isBad) ? rejecting(request) : undefined));
  expect(fleet.missing(bad)).toBe(fleet.missing());
  expectLost(fleet, (3 / 40) * 110);
});

test('the receiver rejects everything for three hours: that time is lost and counted, with one line in the log', async () => {
  const fleet = await played(new Fleet({ tasks: 40 }), 3 * HOUR, rejecting);
  expectLost(fleet, 170);
  expect(fleet.log.lines).toMatchObject([{ reason: 'rejected', response: '400: label value too long' }]);
  // A request each minute, because a fifth of the tasks is polled each minute, and the search, which ends.
  expect(fleet.status.responses.get('400')).toBe(180 + 96);
});

test('the receiver accepts small requests only: they become half as large, nothing is lost, and later they become larger', async () => {
  const fleet = new Fleet({ tasks: 20, samples: 12 });
  await played(fleet, HOUR, (request) => (pointsOf(request).length > 100 ? { response: status(413) } : undefined));
  expectNothingLost(fleet);
  expect(fleet.status.responses.get('413')).toBe(19);
  expect(pointsOf(fleet.receiver.requests.at(-1) ?? []).length).toBe(240);
});

test.each([
  [400, 'out of bounds\n'],
  [500, 'too old sample\n'],
])(
  'the receiver returns %i and "%s" for what is an hour old, after two hours away: the last hour arrives',
  async (code, text) => {
    const fleet = new Fleet();
    await played(fleet, 3 * HOUR, (request) => {
      if (fleet.clock.now() < START + 2.5 * HOUR) return unreachable(request);
      const isOld = pointsOf(request).some(({ at }) => at < fleet.clock.now() - HOUR);
      return isOld ? { response: status(code, text) } : undefined;
    });
    expectLost(fleet, 60, 80);
    const advice = expect.stringContaining('out_of_order_time_window');
    expect(fleet.log.lines).toContainEqual(expect.objectContaining({ reason: 'too_old', advice }));
  },
);

test.each([
  ['three hours: every minute arrives', 3, 0, 0, 0, 1, []],
  ['nine hours: what is longer ago than the catch-up is counted', 9, 0, 0, 180, 195, ['catch_up']],
  ['nine hours, of which two cannot be read: all are counted', 9, 6, 14_340, 300, 315, ['unread', 'catch_up']],
])('the exporter is away for %s', async (_, hours, unreadHours, unread, least, most, reasons) => {
  const fleet = await running();
  await fleet.restarts(hours * HOUR, fleet.state);
  fleet.unreadUntil = START + unreadHours * HOUR;
  await fleet.passes(HOUR);
  expectLost(fleet, least, most);
  expect(fleet.status.lost.get('unread')).toBe(unread);
  expect(fleet.log.lines.map(({ reason }) => reason)).toEqual(reasons);
});

test.each([true, false])(
  'the exporter is killed ten times: nothing is lost; out-of-order window: %s',
  async (hasWindow) => {
    const fleet = new Fleet({ tasks: 20, hasWindow });
    for (let kills = 0; kills < 10; kills += 1) {
      await fleet.passes((10 + kills) * MINUTE);
      fleet.receiver.fault = kills % 2 === 0 ? unreachable : undefined;
      await fleet.passes(MINUTE);
      // The state is a minute old, and points wait.
      const { state } = fleet;
      await fleet.passes(MINUTE);
      // The same tasks are polled first again.
      await fleet.restarts(3 * MINUTE, state);
      fleet.receiver.fault = () => ({ response: status(503) });
      await fleet.passes(MINUTE);
      fleet.receiver.fault = undefined;
    }
    await fleet.passes(HOUR);
    expectNothingLost(fleet);
  },
);

test('the exporter starts without a state: of the usual period, what the receiver has already is not counted', async () => {
  const fleet = await running({ hasWindow: false });
  await fleet.restarts(MINUTE);
  await fleet.passes(HOUR);
  expect(fleet.status.responses.get('400')).toBeGreaterThan(0);
  expect(fleet.missing() / 2).toBeLessThanOrEqual(2);
  expect(fleet.counted).toBe(0);
});

test('the exporter starts for the first time with ten days to catch up, of which an appliance has seven: all of them arrive', async () => {
  const fleet = new Fleet({ tasks: 1, catchUpMs: 240 * HOUR, firstMs: 240 * HOUR });
  fleet.has = (_, at) => at >= START - 168 * HOUR;
  await fleet.passes(2 * HOUR);
  expect([...fleet.receiver.series.values()][0]?.size).toBeGreaterThan(168 * 60);
  expect(fleet.counted).toBe(0);
});

test('an appliance is off for ten hours: nothing counts as lost, and of what it reports late the last six hours arrive', async () => {
  const fleet = new Fleet({ catchUpMs: 12 * HOUR });
  const offUntil = START + 11 * HOUR;
  fleet.has = (_, at, now) => at < START + HOUR || now > offUntil;
  await fleet.passes(13 * HOUR);
  expect(fleet.missing() / 2).toBe(4 * 60 - 1);
  expect(fleet.counted).toBe(0);
});

test('an appliance is not in the inventory for nine hours: that time does not count as lost, and the last six hours arrive', async () => {
  const fleet = await running();
  fleet.isListed = () => false;
  await fleet.passes(4 * HOUR);
  await fleet.restarts(0, fleet.state);
  await fleet.passes(5 * HOUR);
  fleet.isListed = () => true;
  await fleet.passes(HOUR);
  expect(fleet.missing() / 2).toBeLessThan(3 * 60 + 15);
  expect(fleet.counted).toBe(0);
});

test('an appliance leaves for good: nothing of it stays', async () => {
  const fleet = await running();
  fleet.isListed = (task) => task === fleet.tasks[0];
  await fleet.passes(7 * HOUR);
  expect(JSON.parse(fleet.state).cursors).toHaveLength(2);
  await fleet.passes(6 * MINUTE);
  expect(JSON.parse(fleet.state).cursors).toHaveLength(1);
});

test.each([-20, 20, 180])('the service is %i minutes ahead for an hour: nothing is lost', async (minutes) => {
  const fleet = await running({ hasWindow: true });
  fleet.aheadMs = minutes * MINUTE;
  await fleet.passes(HOUR);
  fleet.aheadMs = 0;
  await fleet.passes(HOUR);
  expectNothingLost(fleet);
});
