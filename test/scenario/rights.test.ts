import { expect, test } from 'vitest';
import { simulate } from './simulate.ts';

const WELL = 'portal up, 3 reporting, 9 series';
const TELEMETRY = /^\/telemetry\//;
const LICENCE = ['filer_license_feature_enabled', { feature: 'ops_iq_premium' }] as const;

test('a licence that lapses and is bought again is on its metric and on the page each time', async () => {
  const run = await simulate();
  await run.advance('4m');
  const ends = [
    run.fail({ path: TELEMETRY, status: 403 }),
    run.services.edit(/^\/account\/license/, (body) => ({ ...(body as object), ops_iq_premium: false })),
  ];
  const lapsed = await run.advance('12m');
  expect([lapsed.value(...LICENCE), lapsed.standing]).toEqual([0, 'portal down (forbidden), 0 series']);
  expect((await run.get('/status')).text).toContain('ops_iq_premium');
  for (const end of ends) end();
  const bought = await run.advance('9m');
  expect([bought.value(...LICENCE), bought.standing]).toEqual([1, WELL]);
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

test('series that are rejected request the licence at once, and one that is rejected too not again and again', async () => {
  const run = await simulate({ appliances: 12 });
  await run.advance('8m');
  run.fail({ service: 'portal', status: 403 });
  await run.advance('4m');
  const requests = run.requests(/^\/account\/license/, '4m');
  expect([requests > 0, requests <= 2]).toEqual([true, true]);
});

test('a token is refreshed before it ends, lives for a minute at times, and none is left when the exporter stops', async () => {
  const run = await simulate({ services: { tokenLifetimeMs: 60_000 } });
  run.allow('requests', 'a token for each minute is requested');
  expect((await run.advance('8m')).standing).toBe(WELL);
  expect(run.requests(/^\/auth\/token\/refresh/)).toBeGreaterThan(5);
  await run.stop();
  expect(run.services.portal.tokens.alive(run.clock.now())).toBe(0);
});
