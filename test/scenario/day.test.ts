import { expect, test } from 'vitest';
import { type Scenario, simulate } from './simulate.ts';

/** What a quarter of an hour takes, and what is held at its end. */
async function quarter(run: Scenario) {
  const scrape = await run.advance('15m');
  return {
    requests: run.requests(/^/, '15m'),
    pageBytes: scrape.text.replaceAll(/^(?:# \w+ )?(?:process|nodejs)_.*\n/gm, '').length,
    statusBytes: (await run.get('/api/v1/status')).text.length,
    sleeping: run.clock.sleeping,
  };
}

test('nothing grows with failures, joins and departures: a quarter of an hour later takes and holds what one before did', async () => {
  const env = { GFA_INTERVAL: '2m', PORTAL_INTERVAL: '5m', PORTAL_DISCOVERY_INTERVAL: '5m', FORGET_AFTER: '5m' };
  const run = await simulate({ appliances: 6, gfa: true, state: true, env, checkEvery: '5m' });
  run.allow('counters', 'those of appliances that have left leave after FORGET_AFTER');
  await run.advance('15m');
  const before = await quarter(run);
  // Appliances come and go, services fail and come back: what they left behind has to leave, too.
  for (let round = 0; round < 3; round += 1) {
    const { fleet } = run.services;
    run.disturb()();
    for (const { name } of fleet.appliances.slice(0, 2)) fleet.remove(name, run.clock.now());
    for (let joined = 0; joined < 2; joined += 1) fleet.add(run.clock.now());
    const end = run.fail({ service: 'portal', status: 503 });
    await run.advance('5m');
    end();
    await run.advance('10m');
  }
  await run.advance('40m');
  const after = await quarter(run);
  for (const [name, value] of Object.entries(before)) {
    expect(after[name as keyof typeof after], name).toBeLessThanOrEqual(1.1 * value + 5);
  }
});
