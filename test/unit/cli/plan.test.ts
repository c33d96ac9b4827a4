import { expect, test } from 'vitest';
import { planOf } from '../../../src/cli/plan.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { portal } from '../../../src/services/portal/service.ts';

const PORTAL = { PORTAL_URL: 'https://portal.example.com', PORTAL_USER_KEY: 'key' };

async function planFor(appliances: number, environment: Readonly<Record<string, string>> = {}) {
  const missing = () => Promise.reject(Object.assign(new Error('no such file'), { code: 'ENOENT' }));
  const readers = { readSecret: missing, readPem: missing };
  const config = await loadConfig({ ...PORTAL, ...environment }, [portal.section], readers);
  const settings = portal.section.of(config);
  const demand = settings && portal.planning?.fleet?.demand(settings, appliances);
  if (demand === undefined) throw new Error('the portal is not configured');
  return planOf(demand);
}

test('with the defaults the limits have room for 243 appliances, and not for 244', async () => {
  expect(await planFor(243)).toMatchObject({ factor: 1 });
  expect((await planFor(244)).factor).toBeGreaterThan(1);
  // 14 series of which each takes 288 requests a day, and one request an hour for the details of the edge.
  const [one, two] = [await planFor(1), await planFor(2)];
  expect((two.perSecond - one.perSecond) * 86_400).toBeCloseTo(14 * 288 + 24);
});

test('2,000 appliances are polled every 41 minutes, and every 5 if only one series is polled that often', async () => {
  expect((await planFor(2_000)).factor * 5).toBeCloseTo(41, 0);
  const seldom = await planFor(2_000, {
    PORTAL_SERIES: 'cpu_utilization,load_average=1h',
    PORTAL_COLLECTORS: 'all,-edges',
  });
  expect(seldom.factor).toBe(1);
});

test('the longer interval that the limits allow fits', async () => {
  const { factor } = await planFor(500);
  const minutes = Math.ceil(5 * factor);
  expect(await planFor(500, { PORTAL_INTERVAL: `${minutes}m` })).toMatchObject({ factor: 1 });
});

test('operations of the account keep their interval, so they take from the share of the appliances', async () => {
  const { factor, allowedPerSecond, perSecond } = await planFor(2_000, { PORTAL_COLLECTORS: 'telemetry,health=1s' });
  expect(factor).toBeCloseTo((perSecond - 1 - 3 / 900) / (allowedPerSecond - 1 - 3 / 900));
});

test('a daily limit of 0 leaves only the burst limit', async () => {
  expect(await planFor(300, { PORTAL_DAILY_LIMIT: '0' })).toMatchObject({ factor: 1, allowedPerSecond: 500 / 30 });
});
