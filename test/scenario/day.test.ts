import { expect, test } from 'vitest';
import { type Scenario, simulate } from '../harness/simulate.ts';

/** What an hour takes, and what is held at its end. */
async function hour(run: Scenario) {
  const scrape = await run.advance('1h');
  return {
    requests: run.requests(/^/, '1h'),
    pageBytes: scrape.text.replaceAll(/^(?:# \w+ )?(?:process|nodejs)_.*\n/gm, '').length,
    statusBytes: (await run.get('/api/v1/status')).text.length,
    sleeping: run.clock.sleeping,
  };
}

test('nothing grows in hours of failures, joins and departures: an hour afterwards takes and holds what one before did', async () => {
  const env = { GFA_INTERVAL: '10m', PORTAL_INTERVAL: '30m', PORTAL_DISCOVERY_INTERVAL: '1h', FORGET_AFTER: '1h' };
  const run = await simulate({ appliances: 10, gfa: true, state: true, env, checkEvery: '30m' });
  run.allow('counters', 'those of appliances that have left leave after FORGET_AFTER');
  await run.advance('1h');
  const before = await hour(run);
  // Appliances come and go, services fail and come back: what they left behind has to leave, too.
  for (let round = 0; round < 2; round += 1) {
    const { fleet } = run.services;
    run.disturb()();
    for (const { name } of fleet.appliances.slice(0, 3)) fleet.remove(name, run.clock.now());
    for (let joined = 0; joined < 3; joined += 1) fleet.add(run.clock.now());
    const end = run.fail({ service: 'portal', status: 503 });
    await run.advance('30m');
    end();
    await run.advance('1h');
  }
  await run.advance('2h');
  const after = await hour(run);
  for (const [name, value] of Object.entries(before)) {
    expect(after[name as keyof typeof after], name).toBeLessThanOrEqual(1.1 * value + 5);
  }
});
