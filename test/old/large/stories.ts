import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HOUR, Large, type LargeSetup, MINUTE } from './large.ts';

/** One trouble of a fleet, and what an operator may expect of it. */
interface LargeStory {
  readonly name: string;
  readonly trouble: (large: Large) => Promise<void>;
  /** How often `up` of the same appliance may change; not at all by default. */
  readonly changes?: number;
  /** How many minutes of one appliance may arrive twice: a receiver keeps one of two equal points. */
  readonly repeated?: number;
  /** How many minutes of an appliance are lost, and reported. */
  readonly lost?: number;
}

const receiverAway = (ms: number) => async (large: Large) => {
  large.receiver.answer = () => new Error('reset');
  await large.passes(ms);
  large.receiver.answer = undefined;
};

const portalAnswers = (status: number, ms: number) => async (large: Large) => {
  large.fleet.status = status;
  await large.passes(ms);
  large.fleet.status = undefined;
};

const exporterAway = (ms: number) => async (large: Large) => {
  await large.stop();
  await large.clock.advance(ms);
  await large.start();
};

const firstHalf = ({ fleet }: Large) => fleet.appliances.slice(0, fleet.appliances.length / 2);

/** In this order in one life, so that what each leaves behind is there in the next. */
const stories: readonly LargeStory[] = [
  { name: 'the receiver is away for 40 minutes', trouble: receiverAway(40 * MINUTE) },
  { name: 'the receiver is away for 5 hours', trouble: receiverAway(5 * HOUR) },
  {
    name: 'the portal returns 503 for 12 hours: each appliance is down once',
    trouble: portalAnswers(503, 12 * HOUR),
    changes: 2,
  },
  { name: 'the portal returns 429 for an hour', trouble: portalAnswers(429, HOUR) },
  {
    name: 'half of the fleet is off for six hours: those are down once, and nothing of theirs is lost',
    trouble: async (large) => {
      const half = firstHalf(large);
      const on = large.fleet.off(half);
      expect((await large.passes(6 * HOUR)).sum('filer_appliance_up')).toBe(half.length);
      on();
    },
    changes: 2,
  },
  {
    name: 'the inventory loses half of the fleet and finds it three hours later: the others know nothing of it',
    trouble: async (large) => {
      const half = firstHalf(large);
      const listed = large.fleet.unlisted(half);
      expect((await large.passes(3 * HOUR)).all('filer_appliance_up')).toHaveLength(half.length);
      listed();
    },
  },
  {
    name: 'killed and started again each hour, four times',
    trouble: async (large) => {
      for (let hour = 0; hour < 4; hour += 1) {
        await large.stop('killed');
        await large.clock.advance(20_000);
        await large.start();
        await large.passes(HOUR);
      }
    },
    // A request that was under way is sent again.
    repeated: 60,
  },
  {
    name: 'answers take 20 seconds for four hours',
    trouble: async (large) => {
      large.fleet.latencyMs = 20_000;
      await large.passes(4 * HOUR);
      large.fleet.latencyMs = 300;
    },
  },
  {
    name: 'one answer is dated a month ahead, and one a month back',
    trouble: async (large) => {
      for (const days of [30, -30]) {
        large.fleet.oddDateMs = days * 24 * HOUR;
        await large.passes(30 * MINUTE);
      }
    },
  },
  {
    name: 'the budget of the day is used up: for six hours only half of the polls are allowed',
    trouble: async (large) => {
      await large.stop();
      await large.start(1, {
        PORTAL_DAILY_LIMIT: String((12 * 60 * large.fleet.appliances.length) / large.intervalMinutes),
      });
      await large.passes(6 * HOUR);
      await large.stop();
      await large.start();
    },
  },
  {
    name: 'the exporter is away for 25 days: what is older than the catch-up is lost, and reported',
    trouble: exporterAway(25 * 24 * HOUR),
    lost: 25 * 24 * 60,
  },
];

/**
 * One life of a fleet with each trouble in turn. After each, every minute has arrived or is reported as lost, no appliance
 * was wrongly up or down, and an hour takes what it took before the first one.
 */
export function tellLarge(setup: LargeSetup): void {
  describe(`${setup.appliances} appliances`, () => {
    let large: Large;
    let before: Awaited<ReturnType<Large['steady']>>;

    beforeAll(async () => {
      large = await Large.begin({ ...setup, variables: { REMOTE_WRITE_CATCH_UP: '16h' } });
      await large.passes(2 * HOUR);
      before = await large.steady();
    });

    afterAll(() => large.stop());

    test.each(stories)('$name', async ({ trouble, changes = 0, repeated = 0, lost = 0 }) => {
      await trouble(large);
      await large.passes(2 * HOUR);
      large.expectSame(before, await large.steady());
      const missing = await large.expectMinutes({ repeated: repeated * setup.appliances });
      expect(missing).toBeLessThanOrEqual(lost * setup.appliances);
      if (lost === 0) expect(missing).toBe(0);
      expect(large.mostChanges()).toBeLessThanOrEqual(changes);
    });
  });
}

/** The fleet is divided among three exporters, then among four. */
export function tellMoreShards(appliances: number): void {
  test(`from three shards to four: every minute of ${appliances} appliances arrives`, async () => {
    // A process without a state file begins PORTAL_LOOKBACK before its start, which has to cover an interval.
    const variables = { PORTAL_LOOKBACK: '90m' };
    const large = await Large.begin({ appliances, intervalMinutes: 60, shards: 3, variables });
    await large.passes(2 * HOUR);
    const before = await large.steady();
    await large.stop();
    await large.start(4);
    await large.passes(2 * HOUR);
    const after = await large.steady();
    // The fourth reads the inventory too.
    expect(after.polls).toBeLessThanOrEqual(1.05 * before.polls + 10);
    // What has moved to another shard is read again from the beginning of its history.
    expect(await large.expectMinutes({ repeated: 90 * appliances })).toBe(0);
    expect(large.mostChanges()).toBe(0);
    await large.stop();
  });
}
