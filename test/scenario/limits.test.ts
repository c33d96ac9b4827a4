import { expect, test } from 'vitest';
import { planOf } from '../../src/cli/plan.ts';
import type { AccountLimits } from '../../src/demo/limits.ts';
import { configuredServices } from '../../src/services/services.ts';
import { HOUR } from '../harness/duration.ts';
import { type Scenario, simulate } from './simulate.ts';

const INTERVAL = 'filer_exporter_effective_interval_seconds';
const PORTAL = /^\/(?!data)/;

const limits = (requests: number, windowMs: number, others: Partial<AccountLimits> = {}): AccountLimits => ({
  burst: { requests, windowMs },
  daily: 1_000_000,
  retryAfter: 'seconds',
  ...others,
});

/** Changes the limits of the account; says that everything may be felt for an hour. */
function limit(run: Scenario, changed: AccountLimits): void {
  run.disturb(() => true, HOUR)();
  run.services.set({ limits: changed });
}

test('a Retry-After holds back the whole portal for that long, and file acceleration not at all', async () => {
  const run = await simulate({ appliances: 6, gfa: true, env: { PORTAL_INTERVAL: '30s', GFA_INTERVAL: '10s' } });
  await run.advance('5m');
  run.fail({ service: 'portal', status: 429, headers: { 'retry-after': '40' }, times: 1 });
  const rejected = { api: 'portal', code: '429' };
  let scrape = await run.advance('1s');
  while (scrape.sum('filer_exporter_requests_total', rejected) === 0 && run.clock.monotonic() < HOUR)
    scrape = await run.advance('1s');
  expect(scrape.value('filer_exporter_request_rate_limit', { api: 'portal' })).toBe(0);
  await run.advance('38s');
  expect([run.requests(PORTAL, '37s'), run.requests(/^\/data/, '37s') > 2]).toEqual([0, true]);
  scrape = await run.advance('2m');
  expect(run.requests(PORTAL, '2m')).toBeGreaterThan(0);
  expect(scrape.sum('filer_exporter_requests_total', rejected)).toBe(1);
});

test('another tool takes most of the limit for half an hour: all is shown, at the interval that is left', async () => {
  const run = await simulate({ env: { PORTAL_INTERVAL: '60s' } });
  run.allow('polled', 'a series that is rejected twice in a row may be too late for its interval');
  await run.advance('10m');
  limit(run, limits(3, 30_000));
  const scrape = await run.advance('30m');
  expect(scrape.standing).toBe('portal up, 3 reporting, 9 series');
  expect(scrape.value(INTERVAL, { api: 'portal' })).toBeGreaterThan(75);
  limit(run, limits(500, 30_000));
  // The limits that apply are found step by step.
  const lifted = await run.advance('45m');
  expect([lifted.standing, lifted.value(INTERVAL, { api: 'portal' })]).toEqual([scrape.standing, 60]);
});

test('the limit of a day that is used up in the evening is over an hour and a half after midnight', async () => {
  const run = await simulate({ at: Date.UTC(2026, 2, 2, 23), checkEvery: '10m' });
  await run.advance('20m');
  limit(run, limits(500, 30_000, { daily: 1 }));
  const end = run.disturb(() => true, 2 * HOUR);
  expect((await run.advance('0.6h')).standing).toBe('portal down (throttled), 0 series');
  run.services.set({ limits: limits(500, 30_000) });
  end();
  expect((await run.advance('1.6h')).standing).toBe('portal up, 3 reporting, 9 series');
});

test('rejections that name a time of day, by a clock that is an hour ahead, are followed', async () => {
  const run = await simulate({
    services: { clockAheadMs: HOUR, limits: limits(10, 60_000, { retryAfter: 'date' }) },
  });
  limit(run, limits(10, 60_000, { retryAfter: 'date' }));
  expect((await run.advance('20m')).standing).toBe('portal up, 3 reporting, 9 series');
});

test('a slow portal and a tight limit at once: all is shown', async () => {
  const env = { PORTAL_RATE_LIMIT: '10/60s', PORTAL_CONCURRENCY: '2' };
  const run = await simulate({ appliances: 6, env });
  await run.advance('4m');
  run.latencyMs = 12_000;
  const end = run.disturb();
  await run.advance('10m');
  end();
  expect((await run.advance('20m')).standing).toBe('portal up, 6 reporting, 18 series');
});

test('inventory and licence keep their interval where the limit allows an eighth of what is wanted, and that is reported once', async () => {
  const run = await simulate({
    appliances: 20,
    env: { PORTAL_RATE_LIMIT: '8/300s', PORTAL_INTERVAL: '5m', PORTAL_DISCOVERY_INTERVAL: '15m' },
    checkEvery: '10m',
  });
  for (let hour = 0; hour < 2; hour += 1) {
    await run.advance('1h');
    expect([run.requests(/^\/serials\?type=edge/, '1h') >= 3, run.requests(/license/, '1.5h') >= 1]).toEqual([
      true,
      true,
    ]);
  }
  expect(run.log.filter(({ warning }) => warning === 'late_data')).toHaveLength(1);
});

test('the effective interval of a fleet is the one that --plan prints beforehand', async () => {
  const env = { PORTAL_RATE_LIMIT: '10/10s', PORTAL_INTERVAL: '5m', PORTAL_DISCOVERY_INTERVAL: '1m' };
  const run = await simulate({ appliances: 120, env });
  const scrape = await run.advance('2m');
  const [portal] = configuredServices(run.config);
  const demand = portal?.service.planning?.demand(portal.settings, 120);
  const planned = demand === undefined ? 0 : 300 * planOf(demand).factor;
  expect(planned).toBeGreaterThan(360);
  expect((scrape.value(INTERVAL, { api: 'portal' }) ?? 0) / planned).toBeCloseTo(1, 2);
});
