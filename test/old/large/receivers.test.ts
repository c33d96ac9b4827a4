// Only here: minutes that a receiver lacks, and that were not reported as lost.
import { describe, expect, onTestFinished, test } from 'vitest';
import { increment } from '../../src/runtime/maps.ts';
import { HOUR, Large, type LargeSetup, MINUTE } from './large.ts';

const SECOND = 1_000;

const away = () => new Error('reset');
const saying = (status: number, text = '') => ({ status, headers: {}, text });

const KILLS = 3;

/** A few appliances, polled every five minutes, of which two hours are caught up. It ends with the test. */
async function fleetOf(appliances: number, more: Partial<LargeSetup> = {}): Promise<Large> {
  const large = await Large.begin({
    appliances,
    intervalMinutes: 5,
    variables: { REMOTE_WRITE_CATCH_UP: '2h' },
    ...more,
  });
  onTestFinished(() => large.stop());
  return large;
}

/** What a receiver does until what this returns is called. */
function answers(large: Large, answer: NonNullable<Large['receiver']['answer']>): () => void {
  large.receiver.answer = answer;
  return () => {
    large.receiver.answer = undefined;
  };
}

describe('each minute arrives once, or is reported', () => {
  test('six days of the exporter away, a catch-up of eight: every minute arrives, six hours of them with each poll', async () => {
    const large = await fleetOf(1, { samples: 2, variables: { REMOTE_WRITE_CATCH_UP: '8d' } });
    await large.passes(HOUR);
    await large.stop();
    await large.clock.advance(6 * 24 * HOUR);
    await large.start();
    /** Points that arrived within one interval: those of one poll. */
    const arrived = new Map<number, number>();
    answers(large, (series) => {
      const interval = Math.floor(large.clock.now() / (5 * MINUTE));
      increment(
        arrived,
        interval,
        series.reduce((sum, { samples }) => sum + samples.length, 0),
      );
      return undefined;
    });
    await large.passes(3 * HOUR);
    const most = Math.max(...arrived.values());
    expect(most / 2).toBeGreaterThan(5.5 * 60);
    expect(most / 2).toBeLessThan(6.5 * 60);
    expect(await large.expectMinutes()).toBe(0);
  });

  test.each([1.5, 2.5])('an appliance that was silent for %d hours and then reports all of it', async (hours) => {
    const until = (1 + hours) * 60;
    const large = await fleetOf(1, {
      arrives: (_, minute, reported) => (minute > 60 && reported < until ? until : reported),
    });
    await large.passes(5 * HOUR);
    expect((await large.expectMinutes()) > 0).toBe(hours > 2);
  });

  test('out of the inventory for three hours: the last two arrive, and the one before is not reported as lost', async () => {
    const large = await fleetOf(2);
    await large.passes(HOUR);
    const relist = large.fleet.unlisted(large.fleet.appliances.slice(0, 1));
    await large.passes(3 * HOUR);
    relist();
    await large.passes(HOUR);
    const { missing, reported } = await large.minutes();
    // What came shortly before it left was due.
    expect(reported).toBeLessThan(15);
    expect(missing).toBeGreaterThan(50);
    expect(missing).toBeLessThan(95);
  });

  test.each(['takes all', 'stock'] as const)('data that is always 70 minutes late: %s', async (receiver) => {
    const large = await fleetOf(1, { receiver, arrives: (_, __, reported) => reported + 70 });
    await large.passes(3 * HOUR);
    const missing = await large.expectMinutes({ late: 75, younger: receiver === 'stock' ? 60 : 0 });
    const newest = (await large.look()).value('filer_exporter_remote_write_newest_timestamp_seconds') ?? 0;
    const age = large.clock.now() - 1000 * newest;
    if (receiver === 'takes all') {
      expect(missing).toBe(0);
      expect(age).toBeLessThan(90 * MINUTE);
    } else {
      expect(large.receiver.rejected).toBeLessThan(8);
      // Dropped minutes have not arrived, so the alert on the lag fires.
      expect(age).toBeGreaterThan(3 * HOUR);
    }
  });

  test('minutes that the service has at once, requested every minute: none is sent twice', async () => {
    const large = await fleetOf(1, { intervalMinutes: 1, arrives: (_, minute) => minute + 1 });
    await large.passes(1.5 * HOUR);
    expect(await large.expectMinutes()).toBe(0);
  });

  test('a single minute that the service adds later is counted', async () => {
    const large = await fleetOf(2, {
      arrives: (appliance, minute, reported) => (appliance === 1 && minute === 30 ? reported + 5 : reported),
    });
    await large.passes(1.5 * HOUR);
    expect(await large.expectMinutes()).toBe(1);
    expect((await large.look()).value('filer_exporter_remote_write_dropped_points_total', { reason: 'late' })).toBe(1);
  });

  test.each([
    ['stock', 40],
    ['stock', 120],
    ['alone', 120],
  ] as const)('the receiver %s and is away for %d min', async (receiver, minutes) => {
    const large = await fleetOf(2, { receiver, variables: { REMOTE_WRITE_CATCH_UP: '3h' } });
    await large.passes(HOUR);
    const back = answers(large, away);
    await large.passes(minutes * MINUTE);
    back();
    const { rejected } = large.receiver;
    await large.passes(2 * HOUR);
    const missing = await large.expectMinutes();
    if (receiver !== 'stock' || minutes < 60) expect(missing).toBe(0);
    else expect(missing / 2).toBeLessThan(85);
    expect(large.receiver.rejected - rejected).toBeLessThan(30);
  });

  test.each([
    ['takes all', 'taken'],
    ['stock', 'taken'],
    ['stock', 'lost'],
  ] as const)('killed three times while a request is under way, %s, which was %s', async (receiver, outcome) => {
    const large = await fleetOf(4, { receiver });
    let waits = 0;
    for (let kills = 0; kills < KILLS; kills += 1) {
      await large.passes(30 * MINUTE);
      large.receiver.hangs = outcome;
      const { requests } = large.receiver;
      for (let left = 300; left > 0 && large.receiver.requests === requests; left -= 1)
        await large.clock.advance(SECOND);
      // Nothing that it does while it dies arrives.
      large.receiver.hangs = 'lost';
      await large.stop('killed');
      large.receiver.hangs = undefined;
      await large.clock.advance(MINUTE);
      // Meanwhile the tasks of that request and others wait together.
      const goesOn = answers(large, () => {
        waits += 1;
        return saying(429);
      });
      await large.start();
      await large.passes(10 * MINUTE);
      goesOn();
    }
    await large.passes(HOUR);
    const { missing, reported } = await large.minutes();
    expect({ missing, reported }).toEqual({ missing: 0, reported: 0 });
    // A receiver that takes all ignores what it has.
    expect(large.receiver.repeated > 0).toBe(receiver === 'takes all' && outcome === 'taken');
    expect(large.receiver.rejected - waits).toBe(receiver === 'stock' && outcome === 'taken' ? KILLS : 0);
  });

  test.each(['takes all', 'stock'] as const)('a restart without state, %s', async (receiver) => {
    const large = await fleetOf(2, { receiver });
    await large.passes(HOUR);
    await large.stop('wiped');
    await large.clock.advance(MINUTE);
    await large.start();
    await large.passes(HOUR);
    const { missing, reported } = await large.minutes();
    expect(missing).toBeLessThanOrEqual(reported);
    expect(large.receiver.rejected).toBeLessThan(10);
  });

  test('one task that the receiver always rejects: the others lose nothing, and it costs one request a poll', async () => {
    const large = await fleetOf(4, { receiver: 'stock' });
    const bad = large.fleet.appliances[0]?.serial;
    answers(large, (series) =>
      series.some(({ labels }) => labels.serial === bad) ? saying(400, 'invalid label') : undefined,
    );
    await large.passes(2 * HOUR);
    const missing = await large.expectMinutes({ younger: 60 });
    expect(missing).toBeGreaterThan(60);
    expect(missing).toBeLessThan(120);
    expect(large.receiver.rejected).toBeLessThan(24 + 15);
  });

  test('a receiver that rejects everything is sent little, and then gets all of it', async () => {
    const large = await fleetOf(4);
    await large.passes(HOUR / 2);
    const accepts = answers(large, () => saying(422, 'no'));
    const { requests } = large.receiver;
    await large.passes(1.5 * HOUR);
    expect(large.receiver.requests - requests).toBeLessThan(50);
    accepts();
    await large.passes(HOUR);
    expect(await large.expectMinutes()).toBe(0);
  });

  test.each(['stock', 'takes all'] as const)(
    'the clock of a receiver is 20 minutes behind for an hour: %s',
    async (receiver) => {
      const large = await fleetOf(2, { receiver });
      await large.passes(HOUR);
      const isRight = answers(large, (series) => {
        const isAhead = series.some(({ samples }) => samples.some(([at]) => at > large.clock.now() - 10 * MINUTE));
        return isAhead ? saying(400, 'out of bounds') : undefined;
      });
      await large.passes(HOUR);
      isRight();
      await large.passes(HOUR);
      expect(await large.expectMinutes()).toBe(0);
    },
  );

  test('a receiver of small requests gets small requests', async () => {
    const large = await fleetOf(1);
    answers(large, ([one]) => ((one?.samples.length ?? 0) > 4 ? saying(413) : undefined));
    await large.passes(1.5 * HOUR);
    expect(await large.expectMinutes()).toBe(0);
    expect(large.receiver.rejected).toBeLessThan(large.receiver.requests / 4);
  });
});
