import { expect, test } from 'vitest';
import { HOUR, Large, type LargeSetup, MINUTE } from './large.ts';

/** One trouble of a fleet, and what an operator may expect of it. */
interface LargeStory {
  readonly name: string;
  readonly setup?: Partial<LargeSetup>;
  readonly trouble: (large: Large) => Promise<void>;
  /** How often `up` of the same appliance may change; not at all by default. */
  readonly changes?: number;
  /** Where things are others afterwards, as pages of more processes. */
  readonly isOther?: true;
  /** How many minutes of one appliance may arrive twice: a receiver keeps one of two equal points. */
  readonly repeated?: number;
}

const receiverAway = (ms: number) => async (large: Large) => {
  large.isReceiverAway = true;
  await large.passes(ms);
  large.isReceiverAway = false;
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

export const stories: readonly LargeStory[] = [
  { name: 'the receiver is away for 10 minutes', trouble: receiverAway(10 * MINUTE) },
  { name: 'the receiver is away for 40 minutes', trouble: receiverAway(40 * MINUTE) },
  { name: 'the receiver is away for 5 hours', trouble: receiverAway(5 * HOUR), setup: { catchUp: '7h' } },
  { name: 'the exporter is away for an hour', trouble: exporterAway(HOUR) },
  {
    name: 'the portal returns 503 for 12 hours: each appliance is down once',
    setup: { catchUp: '14h' },
    trouble: portalAnswers(503, 12 * HOUR),
    changes: 2,
  },
  { name: 'the portal returns 429 for an hour', trouble: portalAnswers(429, HOUR), changes: 2 },
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
    name: 'killed and started again each hour',
    trouble: async (large) => {
      for (let hour = 0; hour < 6; hour += 1) {
        await large.stop('killed');
        await large.clock.advance(20_000);
        await large.start();
        await large.passes(HOUR);
      }
    },
    // A request that was under way is sent again.
    repeated: 60,
  },
];

/** Where 2,000 appliances would have to wait for the interval that limits allow. */
export const slowAnswers: readonly LargeStory[] = [
  {
    name: 'answers take 20 seconds for six hours',
    trouble: async (large) => {
      large.fleet.latencyMs = 20_000;
      await large.passes(6 * HOUR);
      large.fleet.latencyMs = 300;
    },
  },
];

export const moreShards: readonly LargeStory[] = [
  {
    name: 'from three shards to four',
    // A process without a state file begins PORTAL_LOOKBACK before its start, which has to cover an interval.
    setup: { shards: 3, intervalMinutes: 5 },
    trouble: async (large) => {
      await large.stop();
      await large.start(4);
    },
    isOther: true,
    // What moved to another shard is read again from the beginning of its history.
    repeated: 180,
  },
];

/**
 * A test for each story: hours in which all is well, the trouble, and hours until all is as it was. Every minute arrives, no
 * appliance is wrongly up or down, and polls, sleepers, pages, the state file and the queue are what they were.
 */
export function tellLarge(appliances: number, chosen: readonly LargeStory[], hours: number): void {
  test.each(chosen)(`$name: every minute of ${appliances} appliances arrives, and all is as it was`, async (story) => {
    const { setup, trouble, changes = 0, isOther, repeated = 0 } = story;
    const large = await Large.begin({ appliances, ...setup });
    await large.passes(2 * HOUR);
    const before = await large.steady();
    await trouble(large);
    await large.passes(hours * HOUR);
    const after = await large.steady();
    if (!isOther) large.expectSame(before, after);
    expect(await large.expectMinutes({ repeated: repeated * appliances })).toBe(0);
    expect(large.mostChanges).toBeLessThanOrEqual(changes);
  });
}
