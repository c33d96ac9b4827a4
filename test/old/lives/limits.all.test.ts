// Only here: a limit that holds for a moment and not for a day.
import { HOUR, MINUTE, SECOND } from '../harness/world.ts';
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
