// Only here: a plan that promises other requests than the collectors send.
import { expect, test } from 'vitest';
import { World } from '../harness/world.ts';
import { going } from '../support/mock-api.ts';
import { portalEnvironment } from '../support/real-services.ts';
import { APPLIANCES, rounds, VOLUMES } from './rounds.ts';

test('each collector takes as many requests a round as the plan says and docs/limits.md tells', async () => {
  for (const round of rounds()) expect({ ...round, requests: await requestsOf(round.name) }).toEqual(round);
});

/** What one collector requests of a portal with a hundred appliances in one round, the inventory and tokens left out. */
async function requestsOf(collector: string): Promise<number> {
  // Always the same moment: what happens in the simulated fleet depends on it, and so does how many pages there are.
  const variations = { rateLimit: null, dailyLimit: null };
  const world = await World.begin({ appliances: APPLIANCES, volumes: VOLUMES, variations, later: true });
  const { PORTAL_SERIES: _, ...environment } = portalEnvironment(world.services);
  const limits = { PORTAL_RATE_LIMIT: '30000/30s', PORTAL_DAILY_LIMIT: '0' };
  const { app } = world.prepared({ ...environment, ...limits, PORTAL_COLLECTORS: collector });
  await world.clock.through(app.once(going), 10);
  const asked = world.services.requests.filter(
    ({ operation }) => !['token', 'revoke', 'serials', 'edges'].includes(operation),
  );
  // A task whose next slot comes within the round is polled again.
  return new Set(asked.map(({ path, query, body }) => `${path} ${query} ${body}`)).size;
}
