import { expect, test } from 'vitest';
import type { StatusReport } from '../../src/status/model.ts';
import { MINUTE, World } from '../harness/world.ts';

test('the status as JSON tells both services and the fleet as they are', async () => {
  const world = await World.begin({ gfa: true, series: ['cpu_utilization', 'load_average'] });
  await world.passes(MINUTE);
  const report = JSON.parse((await world.page('/api/v1/status')).text) as StatusReport;
  expect(report.appliances.map(({ state }) => state)).toEqual(['up', 'up', 'up']);
  const [gfa, portal] = report.apis;
  expect(gfa).toMatchObject({
    api: 'gfa',
    state: 'up',
    url: world.services.gfaUrl,
    token: { kind: 'key', expires: null },
    intervalSeconds: 60,
    effectiveIntervalSeconds: 60,
    budgetRemaining: null,
    limits: { requests: 4, windowSeconds: 60, requestsPerDay: null },
    accountTasks: [{ operation: 'data', tasks: 1, suspended: 0, failing: 0, lastError: null }],
  });
  expect(portal).toMatchObject({
    api: 'portal',
    state: 'up',
    lastError: null,
    token: { kind: 'token' },
    limits: { requests: 500, windowSeconds: 30, requestsPerDay: 1_000_000 },
  });
  expect(Date.parse(portal?.token.expires ?? '')).toBeGreaterThan(Date.parse(report.time));
  expect(portal?.budgetRemaining).toBeLessThan(1_000_000);
  expect(report.appliances.map(({ serial }) => serial).toSorted()).toEqual(
    world.services.fleet.appliances.map(({ serial }) => serial).toSorted(),
  );
  for (const { name, serial, build, series, dataAgeSeconds, lastPoll } of report.appliances) {
    expect(world.services.fleet.appliances.find((each) => each.serial === serial)?.title).toBe(name);
    expect(build).toMatch(/^\d+\.\d+\.\d+$/);
    expect(series).toBe(2);
    expect(dataAgeSeconds).toBeGreaterThanOrEqual(0);
    expect(Date.parse(lastPoll ?? '')).toBeLessThanOrEqual(Date.parse(report.time));
  }
});
