import { describe, expect, test } from 'vitest';
import type { TimeSeries } from '../../../src/history/write-request.ts';
import { Fleet, HOUR, MINUTE, START } from '../../harness/history-fleet.ts';
import { status } from '../../harness/receiver.ts';

const REJECTED = { response: status(400, 'label value too long') };
const UNREACHABLE = { response: new Error('connection refused') };

const pointsOf = (request: readonly TimeSeries[]) => request.flatMap(({ points }) => points);

/** A fleet whose history has been sent for an hour. */
async function running(options: ConstructorParameters<typeof Fleet>[0] = {}): Promise<Fleet> {
  const fleet = new Fleet(options);
  await fleet.passes(HOUR);
  return fleet;
}

/** Plays half an hour, then a fault of the receiver, then half an hour in which it accepts again. */
async function played(fleet: Fleet, ms: number, fault: NonNullable<Fleet['receiver']['fault']>): Promise<Fleet> {
  await fleet.passes(HOUR / 2);
  fleet.receiver.requests = [];
  fleet.receiver.fault = fault;
  await fleet.passes(ms);
  fleet.receiver.fault = undefined;
  await fleet.passes(HOUR / 2);
  return fleet;
}

test.each([
  [20, 12, '2,000 points', 1_900],
  [2, 2, 'ten minutes', 30],
])('%i tasks of %i samples: every minute arrives, in requests of at most %s', async (tasks, samples, _, least) => {
  const fleet = await played(new Fleet({ tasks, samples }), 20 * MINUTE, () => UNREACHABLE);
  expect(fleet.missing() + fleet.counted).toBe(0);
  const sizes = fleet.receiver.requests.map((request) => pointsOf(request).length);
  expect(Math.max(...sizes)).toBeGreaterThan(least);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(2_000);
  for (const request of fleet.receiver.requests) {
    const times = pointsOf(request).map(({ at }) => at);
    expect(Math.max(...times) - Math.min(...times)).toBeLessThan(10 * MINUTE);
  }
});

describe('the receiver', () => {
  test('is away until the queue is full: nothing more is requested or dropped, and every minute arrives', async () => {
    const fleet = await running({ maxWaiting: 200 });
    await fleet.restarts(3 * HOUR, fleet.state);
    const before = fleet.polls;
    fleet.receiver.fault = () => UNREACHABLE;
    await fleet.passes(2 * HOUR);
    expect(fleet.status.waiting).toBe(200);
    expect(fleet.polls - before).toBe(1);
    fleet.receiver.fault = undefined;
    await fleet.passes(HOUR);
    expect(fleet.missing() + fleet.counted).toBe(0);
  });

  test.each([401, 403, 404, 408, 500, 503])('returns %i for an hour: nothing is lost', async (code) => {
    const fleet = await played(new Fleet(), HOUR, () => ({ response: status(code) }));
    expect(fleet.missing() + fleet.counted).toBe(0);
    expect(fleet.log.lines.map(({ msg }) => msg)).toEqual([
      'The receiver of remote write did not accept points, which were kept to be sent again.',
      'The receiver of remote write accepted points again.',
    ]);
  });

  test('asks for waits of 90 seconds for ten minutes: seven requests, and nothing is lost', async () => {
    const response = status(429, '', { 'retry-after': '90' });
    const fleet = await played(new Fleet(), 10 * MINUTE, () => ({ response }));
    expect(fleet.status.responses.get('429')).toBe(7);
    expect(fleet.missing() + fleet.counted).toBe(0);
  });

  test.each([true, false])(
    'stores a request and returns 504: its repetition costs nothing else; out-of-order window: %s',
    async (hasWindow) => {
      const fleet = new Fleet({ tasks: 40, hasWindow });
      await played(fleet, 7 * MINUTE, () => ({ response: status(504), stores: true }));
      expect(fleet.status.responses.get('400') ?? 0).toBe(hasWindow ? 0 : 1);
      expect(fleet.missing() + fleet.counted).toBe(0);
    },
  );

  test('never accepts three of forty appliances: the others lose nothing, and what is lost is counted', async () => {
    const fleet = new Fleet({ tasks: 40 });
    const bad = fleet.tasks.filter((_, index) => [3, 17, 30].includes(index));
    const isBad = ({ labels }: TimeSeries) =>
      bad.some((task) => task.split('/')[1] === Object.fromEntries(labels).serial);
    await played(fleet, 2 * HOUR, (request) => (request.some(isBad) ? REJECTED : undefined));
    expect(fleet.missing()).toBeGreaterThan(3 * 110);
    expect(fleet.missing(bad)).toBe(fleet.missing());
    expect(fleet.counted).toBe(fleet.missing());
  });

  test('rejects everything for three hours: that time is lost and counted, with one line in the log', async () => {
    const fleet = await played(new Fleet({ tasks: 40 }), 3 * HOUR, () => REJECTED);
    expect(fleet.missing()).toBeGreaterThan(40 * 170);
    expect(fleet.counted).toBe(fleet.missing());
    expect(fleet.log.lines).toMatchObject([{ reason: 'rejected', response: '400: label value too long' }]);
    // A request each minute, because a fifth of the tasks is polled each minute, and the search, which ends.
    expect(fleet.status.responses.get('400')).toBeLessThan(180 + 120);
  });

  test('accepts small requests only: they become small, and nothing is lost', async () => {
    const fleet = new Fleet({ tasks: 20, samples: 12 });
    await played(fleet, HOUR, (request) => (pointsOf(request).length > 100 ? { response: status(413) } : undefined));
    expect(fleet.missing() + fleet.counted).toBe(0);
    expect(fleet.status.responses.get('413')).toBeLessThan(fleet.receiver.requests.length / 5);
  });

  test('rejects one large request: the next ones are half as large and become larger again', async () => {
    const fleet = new Fleet({ tasks: 20, samples: 12 });
    const sizes: number[] = [];
    await played(fleet, HOUR, (request) => {
      if (fleet.clock.now() < START + HOUR) return UNREACHABLE;
      sizes.push(pointsOf(request).length);
      return sizes.length === 2 ? { response: status(413) } : undefined;
    });
    const [, large = 0, ...next] = sizes;
    expect(large).toBeGreaterThan(1_900);
    expect(Math.max(...next.slice(0, 3))).toBeLessThan(1_100);
    expect(Math.max(...next)).toBeGreaterThan(1_100);
  });

  test('rejects what is an hour old, after two hours away: the last hour arrives, and the rest is counted', async () => {
    const fleet = await played(new Fleet({ hasWindow: false }), 2 * HOUR, () => UNREACHABLE);
    expect(fleet.missing() / 2).toBeGreaterThan(60);
    expect(fleet.missing() / 2).toBeLessThan(80);
    expect(fleet.counted).toBe(fleet.missing());
    const advice = expect.stringContaining('out_of_order_time_window');
    expect(fleet.log.lines).toContainEqual(expect.objectContaining({ reason: 'too_old', advice }));
  });

  test('returns 500 and "too old sample" for what is older than its window: the sender goes on', async () => {
    const fleet = new Fleet();
    const back = START + 2.5 * HOUR;
    const isOld = (request: readonly TimeSeries[]) => pointsOf(request).some(({ at }) => at < fleet.clock.now() - HOUR);
    await played(fleet, 4 * HOUR, (request) => {
      if (fleet.clock.now() < back) return UNREACHABLE;
      return isOld(request) ? { response: status(500, 'too old sample\n') } : undefined;
    });
    expect(fleet.missing() / 2).toBeGreaterThan(60);
    expect(fleet.missing() / 2).toBeLessThan(80);
    expect(fleet.counted).toBe(fleet.missing());
  });

  test('is dead from the start: the newest minute that it has is old', async () => {
    const fleet = new Fleet();
    fleet.receiver.fault = () => UNREACHABLE;
    await fleet.passes(HOUR);
    expect(fleet.status.newestSeconds).toBeLessThan(START / 1000);
    expect(fleet.status.newestSeconds).toBeGreaterThan(START / 1000 - 900);
  });
});

describe('the exporter', () => {
  test.each([
    ['three hours: every minute arrives', 3, 0],
    ['nine hours: what is longer ago than the catch-up is counted', 9, 180],
  ])('is away for %s', async (_, hours, lost) => {
    const fleet = await running();
    await fleet.restarts(hours * HOUR, fleet.state);
    await fleet.passes(HOUR);
    expect(fleet.missing() / 2).toBeGreaterThanOrEqual(lost);
    expect(fleet.missing() / 2).toBeLessThan(lost + 15);
    expect(fleet.counted).toBe(fleet.missing());
  });

  test('is away for nine hours, and the service cannot return the first two of the others: both count', async () => {
    const fleet = await running();
    await fleet.restarts(9 * HOUR, fleet.state);
    fleet.unreadUntil = START + 6 * HOUR;
    await fleet.passes(HOUR);
    expect(fleet.missing() / 2).toBeGreaterThanOrEqual(5 * 60);
    expect(fleet.counted).toBe(fleet.missing());
    expect(fleet.status.lost.get('unread')).toBeGreaterThanOrEqual(2 * 2 * 3_600 - 600);
  });

  test.each([true, false])(
    'is killed ten times, with a state that is a minute old, and the receiver is ill at the start: nothing is lost; out-of-order window: %s',
    async (hasWindow) => {
      const fleet = new Fleet({ tasks: 20, hasWindow });
      for (let kills = 0; kills < 10; kills += 1) {
        await fleet.passes((10 + kills) * MINUTE);
        const { state } = fleet;
        await fleet.passes(MINUTE);
        // The same tasks are polled first again.
        await fleet.restarts(4 * MINUTE, state);
        fleet.receiver.fault = () => ({ response: status(503) });
        await fleet.passes(MINUTE);
        fleet.receiver.fault = undefined;
      }
      await fleet.passes(HOUR);
      expect(fleet.missing() + fleet.counted).toBe(0);
    },
  );

  test('is killed while points wait: they are read again', async () => {
    const fleet = await running();
    fleet.receiver.fault = () => UNREACHABLE;
    await fleet.passes(HOUR);
    await fleet.restarts(MINUTE, fleet.state);
    fleet.receiver.fault = undefined;
    await fleet.passes(HOUR);
    expect(fleet.missing() + fleet.counted).toBe(0);
  });

  test('starts without a state: of the usual period, what the receiver has already is not counted', async () => {
    const fleet = await running({ hasWindow: false });
    await fleet.restarts(MINUTE);
    await fleet.passes(HOUR);
    expect(fleet.status.responses.get('400')).toBeGreaterThan(0);
    expect(fleet.missing() / 2).toBeLessThanOrEqual(2);
    expect(fleet.counted).toBe(0);
  });

  test('starts for the first time with ten days to catch up, of which an appliance has seven: all of them arrive', async () => {
    const fleet = new Fleet({ tasks: 1, catchUpMs: 240 * HOUR, firstMs: 240 * HOUR });
    fleet.has = (_, at) => at >= START - 168 * HOUR;
    await fleet.passes(2 * HOUR);
    expect([...fleet.receiver.series.values()][0]?.size).toBeGreaterThan(168 * 60);
    expect(fleet.counted).toBe(0);
  });
});

describe('an appliance', () => {
  test('is off for ten hours: nothing counts as lost, and what it reports four hours late arrives', async () => {
    const fleet = new Fleet();
    const offUntil = START + 11 * HOUR;
    fleet.has = (_, at, now) => at < START + HOUR || (now > offUntil && at > START + 7 * HOUR);
    await fleet.passes(13 * HOUR);
    expect(fleet.missing() + fleet.counted).toBe(0);
  });

  test('is not in the inventory for nine hours: that time does not count as lost, and the last six hours arrive', async () => {
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

  test('sends records of an hour ahead: they are not sent, and do not complete the newest minute', async () => {
    const fleet = new Fleet();
    fleet.hasFuture = true;
    await fleet.passes(HOUR);
    expect(fleet.missing() + fleet.counted).toBe(0);
    expect(fleet.status.newestSeconds).toBeLessThan(fleet.clock.now() / 1000);
  });

  test('leaves for good: nothing of it stays', async () => {
    const fleet = await running();
    fleet.isListed = (task) => task === fleet.tasks[0];
    await fleet.passes(26 * HOUR);
    expect(JSON.parse(fleet.state).cursors).toHaveLength(1);
  });
});

test.each([-20 * MINUTE, 20 * MINUTE, 3 * HOUR])(
  'the clock of the service is %i ms ahead for an hour: nothing is lost',
  async (ms) => {
    const fleet = await running({ hasWindow: true });
    fleet.aheadMs = ms;
    await fleet.passes(HOUR);
    fleet.aheadMs = 0;
    await fleet.passes(HOUR);
    expect(fleet.missing() + fleet.counted).toBe(0);
  },
);

test('a state with a cursor two years ahead: history begins anew', async () => {
  const fleet = new Fleet();
  const ahead = START + 2 * 365 * 24 * HOUR;
  await fleet.restarts(0, JSON.stringify({ newest: ahead, cursors: fleet.tasks.map((task) => [task, ahead, 0]) }));
  await fleet.passes(HOUR);
  expect(fleet.missing() + fleet.counted).toBe(0);
});
