import { expect, test } from 'vitest';
import type { Scenario } from '../harness/simulate.ts';
import { simulate } from '../harness/simulate.ts';

const WELL = 'portal up, 3 reporting, 9 series';
const TELEMETRY = /^\/telemetry\//;
const LICENCE = ['filer_license_feature_enabled', { feature: 'ops_iq_premium' }] as const;
const EDGES = ['filer_exporter_inventory_gap_info', { list: 'edges', reason: 'forbidden' }] as const;

/** The licence for telemetry lapses; the returned functions buy it again. */
function lapse(run: Scenario): readonly (() => void)[] {
  return [
    run.fail({ path: TELEMETRY, status: 403 }),
    run.services.edit(/^\/account\/license/, (body) => ({ ...(body as object), ops_iq_premium: false })),
  ];
}

test('a licence that lapses and is bought again is on its metric and on the page each time', async () => {
  const run = await simulate();
  await run.advance('4m');
  const ends = lapse(run);
  const lapsed = await run.advance('12m');
  expect([lapsed.value(...LICENCE), lapsed.standing]).toEqual([0, 'portal down (forbidden), 0 series']);
  expect((await run.get('/status')).text).toContain('ops_iq_premium');
  for (const end of ends) end();
  const bought = await run.advance('9m');
  expect([bought.value(...LICENCE), bought.standing]).toEqual([1, WELL]);
});

test('a licence lapses: everything is down although a series that the build lacks is polled every two hours', async () => {
  const run = await simulate({
    series: ['cpu_utilization', 'memory_utilization', 'memory_utilization_details'],
    env: { PORTAL_DISCOVERY_INTERVAL: '2h' },
  });
  await run.advance('8m');
  lapse(run);
  expect((await run.advance('16m')).standing).toBe('portal down (forbidden), 0 series');
});

test('a right to one series that is taken away and given again: the others go on, and it comes back', async () => {
  const run = await simulate();
  await run.advance('4m');
  const end = run.fail({ path: /load_average/, status: 403 });
  const scrape = await run.advance('12m');
  expect(scrape.standing).toBe('portal up, 3 reporting, 6 series');
  expect(scrape.value('filer_exporter_tasks_suspended', { api: 'portal', reason: 'forbidden' })).toBe(3);
  end();
  expect((await run.advance('8m')).standing).toBe(WELL);
});

test('rights that belong to the sign-in: a right that was given shows its values within the discovery interval', async () => {
  const run = await simulate({ services: { tokenLifetimeMs: 24 * 3_600_000 } });
  // The service knows the rights of a token by the number of sign-ins before.
  let signIns = 0;
  run.services.edit(/^\/auth\/token$/, (body) => {
    signIns += 1;
    return body;
  });
  await run.advance('4m');
  const end = run.fail({ path: TELEMETRY, status: 403 });
  await run.advance('12m');
  const [before, given] = [signIns, run.clock.monotonic()];
  end();
  expect((await run.advance('8m')).standing).toBe(WELL);
  expect(signIns).toBeGreaterThan(1);
  expect([signIns - before <= 2, run.clock.monotonic() > given]).toEqual([true, true]);
});

test('a role that may not list edges: metric, log and page say so, and when it may again', async () => {
  const run = await simulate();
  await run.advance('4m');
  const end = run.fail({ path: /^\/edges/, status: 403 });
  expect((await run.advance('16m')).value(...EDGES)).toBe(1);
  expect((await run.get('/status')).text).toContain('edges');
  end();
  expect((await run.advance('8m')).value(...EDGES)).toBeUndefined();
  expect(run.log.filter(({ list }) => list === 'edges').map(({ level }) => level)).toEqual(['warn', 'info']);
});

test('a role that may read neither list of appliances for half an hour loses none, and their names stay', async () => {
  const run = await simulate({ env: { PORTAL_COLLECTORS: 'telemetry' } });
  const named = (await run.advance('4m')).all('filer_appliance_up').map(({ labels }) => labels.filer);
  const end = run.fail({ path: /^\/(?:serials|edges)/, status: 403 });
  const scrape = await run.advance('24m');
  expect(scrape.standing).toBe(WELL);
  expect(scrape.all('filer_appliance_up').map(({ labels }) => labels.filer)).toEqual(named);
  end();
  expect((await run.advance('15m')).standing).toBe(WELL);
});

test('series that are rejected request once a minute a licence that is rejected too', async () => {
  const run = await simulate({ appliances: 12 });
  await run.advance('8m');
  run.fail({ service: 'portal', status: 403 });
  await run.advance('4m');
  const requests = run.requests(/^\/account\/license/, '4m');
  expect([requests > 0, requests <= 6]).toEqual([true, true]);
});

test('a token is refreshed before it ends, lives for a minute at times, and none is left when the exporter stops', async () => {
  const run = await simulate({ services: { tokenLifetimeMs: 60_000 } });
  run.allow('requests', 'a token for each minute is requested');
  expect((await run.advance('8m')).standing).toBe(WELL);
  expect(run.requests(/^\/auth\/token\/refresh/)).toBeGreaterThan(5);
  await run.stop();
  expect(run.services.portal.tokens.alive(run.clock.now())).toBe(0);
});

test('one 503 of the token service while the token at hand is rejected takes nothing down', async () => {
  const run = await simulate({ services: { tokenLifetimeMs: 3_600_000 } });
  await run.advance('3m');
  run.fail({ path: /^\/auth\/token/, status: 503, times: 1 });
  run.fail({ path: TELEMETRY, status: 401, times: 1 });
  for (let minute = 0; minute < 20; minute += 2)
    expect((await run.advance('2m')).value('filer_api_up', { api: 'portal' })).toBe(1);
});
