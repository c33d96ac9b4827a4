import { expect, test } from 'vitest';
import { planOf } from '../../../src/cli/plan.ts';
import { fleetDemand } from '../../../src/services/portal/service.ts';
import { configOf, portalOnly, type Variables } from '../../harness/load-config.ts';

async function planFor(appliances: number, variables: Variables = {}) {
  const { portal } = await configOf({ ...portalOnly, ...variables });
  if (portal === undefined) throw new Error('the portal is not configured');
  return planOf(fleetDemand(portal, appliances));
}

test('an appliance takes a request for each of its series in each interval', async () => {
  // 14 series of which each takes 288 requests a day, and one request an hour for the details of the edge.
  const [one, two] = [await planFor(1), await planFor(2)];
  expect((two.perSecond - one.perSecond) * 86_400).toBeCloseTo(14 * 288 + 24);
});

test('2,000 appliances are polled every 41 minutes, and every 5 if only one series is polled that often', async () => {
  expect((await planFor(2_000)).factor * 5).toBeCloseTo(41, 0);
  const seldom = { PORTAL_SERIES: 'cpu_utilization,load_average=1h', PORTAL_COLLECTORS: 'all,-edges' };
  expect((await planFor(2_000, seldom)).factor).toBe(1);
});

test('operations of the account keep their interval, so they take from the share of the appliances', async () => {
  const { factor, allowedPerSecond, perSecond } = await planFor(2_000, { PORTAL_COLLECTORS: 'telemetry,health=1s' });
  expect(factor).toBeCloseTo((perSecond - 1 - 3 / 900) / (allowedPerSecond - 1 - 3 / 900));
});

test('a daily limit of 0 leaves only the burst limit', async () => {
  expect(await planFor(300, { PORTAL_DAILY_LIMIT: '0' })).toMatchObject({ factor: 1, allowedPerSecond: 500 / 30 });
});
