import { expect, test } from 'vitest';
import type { StatusReport } from '../../src/status/model.ts';
import { exporter, gfaEnvironment, portalEnvironment, services, until } from '../support/live.ts';

const statusOf = async (live: Awaited<ReturnType<typeof exporter>>) =>
  JSON.parse((await live.get('/api/v1/status')).text) as StatusReport;

test('the status as JSON tells both services and the fleet as they are', async () => {
  const mocks = await services();
  const live = await exporter({ ...gfaEnvironment(mocks), ...portalEnvironment(mocks) });
  const report = await until('all to be polled', async () => {
    const told = await statusOf(live);
    const up = told.apis.every(({ state }) => state === 'up');
    return up && told.appliances.length === 4 && told.appliances.every(({ state }) => state === 'up') && told;
  });
  const [gfa, portal] = report.apis;
  expect(gfa).toMatchObject({
    api: 'gfa',
    state: 'up',
    url: mocks.gfaUrl,
    token: { kind: 'key', expires: null },
    intervalSeconds: 10,
    effectiveIntervalSeconds: 10,
    budgetRemaining: null,
    limits: { requests: 4, windowSeconds: 10, requestsPerDay: null },
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
    mocks.fleet.appliances.map(({ serial }) => serial).toSorted(),
  );
  for (const { name, serial, build, series, dataAgeSeconds, lastPoll } of report.appliances) {
    expect(mocks.fleet.appliances.find((each) => each.serial === serial)?.title).toBe(name);
    expect(build).toMatch(/^\d+\.\d+\.\d+$/);
    expect(series).toBe(2);
    expect(dataAgeSeconds).toBeGreaterThanOrEqual(0);
    expect(Date.parse(lastPoll ?? '')).toBeLessThanOrEqual(Date.parse(report.time));
  }
});
