import { describe, expect, test } from 'vitest';
import { Fleet, HOUR_MS, MINUTE_MS, START } from './fleet.ts';

const away = () => new Error('connect ECONNREFUSED');
const saying = (status: number, text = '') => ({ status, headers: {}, text });

/**
 * Everything due is there once, or was reported; nothing is left behind. Returns how many minutes are missing. `younger`:
 * how many minutes may have been reported that are too young to be due.
 */
function expectReported(fleet: Fleet, period: Parameters<Fleet['judge']>[0] = {}, younger = 0) {
  const { due, missing, reported, repeated } = fleet.judge(period);
  expect(due).toBeGreaterThan(0);
  expect(repeated).toBe(0);
  expect(reported).toBeGreaterThanOrEqual(missing);
  expect(reported).toBeLessThanOrEqual(missing + younger);
  expect(fleet.remote.status().waiting).toBeLessThan(fleet.tasks.length);
  return missing;
}

describe('40 appliances', () => {
  const forty = (more: Partial<ConstructorParameters<typeof Fleet>[0]> = {}) => new Fleet({ appliances: 40, ...more });

  test('25 days of the exporter away, a catch-up of 30: every minute arrives', async () => {
    const fleet = new Fleet({ appliances: 1, samples: 7, catchUpMs: 720 * HOUR_MS });
    await fleet.hours(1);
    await fleet.restart({ downMs: 25 * 24 * HOUR_MS });
    await fleet.hours(4);
    expect(expectReported(fleet)).toBe(0);
    expect(fleet.maxWaiting).toBeLessThanOrEqual(50_400);
  });

  test.each([5.5, 6.5])('an appliance that was silent for %d hours and then reports all of it', async (hours) => {
    const until = (1 + hours) * HOUR_MS;
    const fleet = forty({ arrives: (_, minute, ms) => (minute > 60 && ms < until ? until : ms) });
    await fleet.hours(10);
    const missing = expectReported(fleet);
    expect(missing > 0).toBe(hours > 6);
  });

  test('out of the inventory for ten hours: the last six arrive, and the four before are not reported as lost', async () => {
    const fleet = forty();
    await fleet.hours(2);
    const relist = fleet.unlist(fleet.tasks.slice(0, 20));
    await fleet.hours(10);
    relist();
    await fleet.hours(1);
    const { missing, reported } = fleet.judge();
    // What came shortly before they left was due.
    expect(reported / 20).toBeLessThan(15);
    expect(missing / 20).toBeGreaterThan(230);
    expect(missing / 20).toBeLessThan(260);
  });

  test.each(['takes all', 'stock'] as const)('data that is always 70 minutes late: %s', async (receiver) => {
    const fleet = forty({ receiver, arrives: (_, __, ms) => ms + 70 * MINUTE_MS });
    await fleet.hours(6);
    const missing = expectReported(fleet, { untilMinute: fleet.minute - 110 }, receiver === 'stock' ? 40 * 60 : 0);
    const newestMinute = ((fleet.remote.status().newestSeconds ?? 0) * 1000 - START) / MINUTE_MS;
    if (receiver === 'takes all') {
      expect(missing).toBe(0);
      expect(newestMinute).toBeGreaterThan(fleet.minute - 90);
    } else {
      expect(fleet.receiver.rejected).toBeLessThan(60);
      // Dropped minutes have not arrived, so the alert on the lag fires.
      expect(newestMinute).toBeLessThan(0);
    }
  });

  test('minutes that the service has at once, requested every minute: none is sent twice', async () => {
    const arrives = (_: number, minute: number) => (minute + 1) * MINUTE_MS;
    const fleet = new Fleet({ appliances: 4, intervalMs: MINUTE_MS, arrives });
    await fleet.hours(3);
    expect(expectReported(fleet)).toBe(0);
  });

  test('a single minute that the service adds later is counted', async () => {
    const fleet = forty({ arrives: (appliance, minute, ms) => (appliance === 1 && minute === 60 ? ms + 480_000 : ms) });
    await fleet.hours(3);
    expect(expectReported(fleet)).toBe(1);
    expect(fleet.remote.status().dropped.get('late')).toBe(1);
  });

  test.each([
    ['stock', 40],
    ['stock', 300],
    ['alone', 300],
  ] as const)('the receiver %s and is away for %d min', async (receiver, minutes) => {
    const fleet = forty({ receiver });
    await fleet.hours(2);
    fleet.receiver.answer = away;
    await fleet.hours(minutes / 60);
    fleet.receiver.answer = undefined;
    const { rejected } = fleet.receiver;
    await fleet.hours(3);
    const missing = expectReported(fleet);
    if (receiver !== 'stock' || minutes < 60) expect(missing).toBe(0);
    else expect(missing / 40).toBeLessThan(265);
    expect(fleet.receiver.rejected - rejected).toBeLessThan(100);
  });

  test.each([
    ['takes all', 'taken'],
    ['stock', 'taken'],
    ['stock', 'lost'],
  ] as const)('killed each hour while a request is under way, %s, which was %s', async (receiver, outcome) => {
    const fleet = forty({ receiver });
    let waits = 0;
    for (let kills = 0; kills < 6; kills += 1) {
      await fleet.hours(1);
      fleet.receiver.hangs = outcome;
      await fleet.hours(1 / 60);
      fleet.receiver.hangs = undefined;
      await fleet.restart({ isKilled: true, downMs: MINUTE_MS });
      // Meanwhile the tasks of that request and others wait together.
      fleet.receiver.answer = () => {
        waits += 1;
        return saying(429);
      };
      await fleet.hours(1 / 6);
      fleet.receiver.answer = undefined;
    }
    await fleet.hours(2);
    const { due, missing, reported, repeated } = fleet.judge();
    expect(due).toBeGreaterThan(0);
    expect({ missing, reported }).toEqual({ missing: 0, reported: 0 });
    // A receiver that takes all ignores what it has.
    expect(repeated > 0).toBe(receiver === 'takes all' && outcome === 'taken');
    expect(fleet.receiver.rejected - waits).toBe(receiver === 'stock' && outcome === 'taken' ? 6 : 0);
  });

  test.each(['takes all', 'stock'] as const)('a restart without state, %s', async (receiver) => {
    const fleet = forty({ receiver });
    await fleet.hours(2);
    await fleet.restart({ hasState: false, downMs: MINUTE_MS });
    await fleet.hours(2);
    const { missing, reported } = fleet.judge();
    expect(missing).toBeLessThanOrEqual(reported);
    expect(fleet.receiver.rejected).toBeLessThan(10);
  });

  test('one task that the receiver always rejects: the others lose nothing, and it costs one request a poll', async () => {
    const fleet = forty({ receiver: 'stock' });
    const [bad] = fleet.tasks;
    fleet.receiver.answer = (series) =>
      series.some(({ labels }) => labels.task === bad?.id) ? saying(400, 'invalid label') : undefined;
    await fleet.hours(4);
    const missing = expectReported(fleet, {}, 60);
    expect(missing).toBeGreaterThan(180);
    expect(missing).toBeLessThan(240);
    expect(fleet.receiver.rejected).toBeLessThan(48 + 15);
  });

  test('a receiver that rejects everything is sent little, and then gets all of it', async () => {
    const fleet = forty();
    await fleet.hours(1);
    fleet.receiver.answer = () => saying(422, 'no');
    const { requests } = fleet.receiver;
    await fleet.hours(3);
    expect(fleet.receiver.requests - requests).toBeLessThan(60);
    fleet.receiver.answer = undefined;
    await fleet.hours(1);
    expect(expectReported(fleet)).toBe(0);
  });

  test.each(['stock', 'takes all'] as const)(
    'the clock of a receiver is 20 minutes behind for 2 hours: %s',
    async (kind) => {
      const fleet = forty({ receiver: kind });
      await fleet.hours(2);
      const end = fleet.clock.now() + 2 * HOUR_MS;
      fleet.receiver.answer = (series) => {
        const isAhead = series.some(({ samples }) => samples.some(([at]) => at > fleet.clock.now() - 600_000));
        return isAhead && fleet.clock.now() < end ? saying(400, 'out of bounds') : undefined;
      };
      await fleet.hours(4);
      expect(expectReported(fleet)).toBe(0);
    },
  );

  test('a receiver of small requests gets small requests', async () => {
    const fleet = forty();
    fleet.receiver.answer = (series) => (series.length > 3 ? saying(413) : undefined);
    await fleet.hours(3);
    expect(expectReported(fleet)).toBe(0);
    expect(fleet.receiver.rejected).toBeLessThan(fleet.receiver.requests / 4);
  });
});
