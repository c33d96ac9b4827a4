// Only here: a limit that holds for a moment and not for a day.
import { DAY, HOUR, MINUTE, PORTAL, SECOND } from '../harness/world.ts';
import { type Story, tell, trouble } from './story.ts';

const WELL = 'portal up, 3 reporting, 9 series';
/** So that ten minutes are between noon and the beginning. */
const NEARLY_NOON = Date.UTC(2026, 2, 2, 11, 50);

/** Limits that are reached, shared, lowered and lifted. */
const limits: readonly Story[] = [
  {
    name: 'a day’s limit that is used up at noon is over an hour and a half after midnight',
    begins: { at: NEARLY_NOON, lookMs: 10 * MINUTE },
    tells: async (life) => {
      await life.passes(30 * MINUTE);
      const over = life.varies({ dailyLimit: 1 }, { echoMs: 2 * HOUR });
      await life.passes(3 * HOUR);
      const evening = await life.after(8 * HOUR + 40 * MINUTE);
      over();
      life.expects(
        [evening, await life.after(90 * MINUTE)],
        [/portal down \(throttled\), (?:3 unavailable, )?0 series/, WELL],
      );
    },
  },
  trouble({
    name: 'another tool on the account that takes most of the limit for two hours',
    begins: { appliances: 6, environment: { PORTAL_INTERVAL: '60s' } },
    ms: 2 * HOUR,
    begin: (life) =>
      life.varies(
        { rateLimit: { kind: 'sliding-window', requests: 6, windowMs: 30_000 } },
        { scope: { path: /never/ } },
      ),
    during: 'portal up, 6 reporting, 18 series',
    after: 'portal up, 6 reporting, 18 series',
  }),
  {
    name: 'a limit that allows a third of what is asked for, from the start',
    begins: { appliances: 8, environment: { PORTAL_RATE_LIMIT: '8/300s' }, lookMs: 10 * MINUTE },
    tells: async (life) => {
      await life.passes(2 * HOUR);
      life.expects([await life.after(2 * HOUR)], ['portal up, 8 reporting, 24 series']);
    },
  },
  {
    name: 'refusals for ten minutes that say to come back in one',
    tells: async (life) => {
      await life.passes(20 * MINUTE);
      const over = life.fails({ operation: PORTAL, kind: 'status', status: 429, headers: { 'retry-after': '60' } });
      const during = await life.after(10 * MINUTE);
      over();
      life.expects([during, await life.after(10 * MINUTE)], [/^portal/, WELL]);
    },
  },
  trouble({
    name: 'refusals that say to come back at a time of day, by a clock that is an hour ahead',
    begins: { variations: { clockAheadMs: HOUR, retryAfter: 'date' } },
    ms: HOUR,
    begin: (life) =>
      life.varies(
        { rateLimit: { kind: 'fixed-window', requests: 10, windowMs: 60_000 } },
        { scope: { path: /never/ } },
      ),
    during: WELL,
    after: WELL,
  }),
  {
    name: 'a limit that falls by half each hour is followed, and lifted again it is found',
    begins: { appliances: 6, environment: { PORTAL_INTERVAL: '60s' }, lookMs: 5 * MINUTE },
    tells: async (life) => {
      await life.passes(20 * MINUTE);
      for (const requests of [16, 8, 4]) {
        const rateLimit = { kind: 'sliding-window', requests, windowMs: 30_000 } as const;
        life.varies({ rateLimit }, { scope: { path: /never/ } });
        await life.passes(HOUR);
      }
      life.act();
      life.services.vary({ rateLimit: null });
      life.expects([await life.after(20 * MINUTE)], ['portal up, 6 reporting, 18 series']);
    },
  },
  {
    name: 'a daily limit that allows half of what is asked for lasts all day',
    begins: { environment: { PORTAL_DAILY_LIMIT: '1600', PORTAL_COLLECTORS: 'telemetry' }, lookMs: 30 * MINUTE },
    tells: async (life) => {
      await life.passes(6 * HOUR);
      const later = await life.after(18 * HOUR);
      life.expects([later, life.sent.count(/^\/portal/, DAY) <= 1600], [WELL, true]);
    },
  },
  {
    name: 'an interval of twenty seconds on an account without limits',
    begins: {
      environment: { PORTAL_INTERVAL: '20s', PORTAL_DAILY_LIMIT: '0' },
      variations: { rateLimit: null, dailyLimit: null },
    },
    tells: async (life) => {
      await life.passes(30 * MINUTE);
      life.expects([await life.after(30 * MINUTE)], [WELL]);
    },
  },
  trouble({
    name: 'a slow portal and a tight limit at once',
    begins: { appliances: 6, environment: { PORTAL_RATE_LIMIT: '10/60s', PORTAL_CONCURRENCY: '2' } },
    ms: HOUR,
    begin: (life) => life.varies({ latencyMs: 12 * SECOND }, { scope: { path: /never/ } }),
    during: 'portal up, 6 reporting, 18 series',
    after: 'portal up, 6 reporting, 18 series',
  }),
];

tell(limits);
