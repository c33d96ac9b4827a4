import { expect, test } from 'vitest';
import { serviceWarning } from '../../../src/contract/service-warning.ts';
import { exporterMetrics } from '../../../src/exposition/exporter/table.ts';
import { isEmpty, PollingRun, returns, works } from '../polling/polling-run.ts';
import { fleet, reportOf } from './reports.ts';

test('a healthy service is up, with what it may send, how old its data is, and nothing to do', async () => {
  const run = new PollingRun(fleet);
  await run.passes(20);
  const { apis, appliances } = reportOf(run);
  expect(apis[0]).toMatchObject({
    state: 'up',
    downReason: null,
    lastError: null,
    cause: null,
    requestRate: { waitUntil: null, throttled: false },
    dailyLimit: 1_000_000,
    quotaRemaining: 1_000_000,
    intervalSeconds: 300,
    tasks: { total: 38, overdue: 0, suspended: { forbidden: 0, not_found: 0, rejected: 0, empty: 0 } },
    clockSkewSeconds: 2.5,
    warnings: [],
  });
  expect(apis[0]?.tasks.worstAgeSeconds).toBeLessThanOrEqual(450);
  expect(apis[0]?.accountTasks.map(({ operation, failing }) => [operation, failing])).toEqual([
    ['inventory', 0],
    ['account_license', 0],
  ]);
  expect(appliances.map(({ name, state }) => [name, state])).toEqual(
    Array.from({ length: 12 }, (_, index) => [`a${index}`, 'up']),
  );
});

test('before the first verdict everything waits, and a service that rejects for its limits is down', () => {
  const { apis, appliances } = reportOf(new PollingRun(fleet));
  expect([apis[0]?.state, apis[0]?.lastSuccess, appliances]).toEqual(['waiting', null, []]);
  const throttled = reportOf(new PollingRun(fleet, { isWaiting: () => true })).apis[0];
  expect([throttled?.state, throttled?.downReason]).toEqual(['down', 'throttled']);
});

test('suspended tasks are counted by reason, and what is forbidden is a warning', async () => {
  const run = new PollingRun(fleet);
  run.behaviour = ({ id, operation }) => {
    if (id === 'a0/s0') return isEmpty;
    return operation === 's1' ? returns(403) : works;
  };
  await run.passes(60);
  const { apis, appliances } = reportOf(run);
  expect(apis[0]).toMatchObject({ state: 'up', tasks: { overdue: 0, suspended: { empty: 1, forbidden: 12 } } });
  expect(apis[0]?.warnings).toMatchObject([
    { code: 'forbidden', happened: 'requests for s1 of 12 appliances returned 403' },
  ]);
  expect(appliances[0]).toMatchObject({ state: 'up', failing: 0, lastError: null, tasks: 3 });
  expect(appliances[0]?.suspended).toEqual([
    { operation: 's0', reason: 'empty' },
    { operation: 's1', reason: 'forbidden' },
  ]);
});

test('the metric has one series for each warning that lasts, with a fixed sentence without names and numbers', async () => {
  const run = new PollingRun(fleet);
  run.behaviour = () => returns(500);
  await run.passes(60);
  const gap = { list: 'edges', reason: 'empty', happened: 'the list of 3 edges', advice: 'do 4' } as const;
  const inventoryDetails = { gaps: () => [gap, { ...gap, list: 'all' }], describe: () => undefined };
  const late = serviceWarning('late_data', 'data comes 3 times later');
  const { apis } = reportOf(run, { inventory: inventoryDetails, warnings: () => [late] });
  const series = [...exporterMetrics.warnings.read({ apis, samples: 0, own: new Map() })].map(([labels]) => labels);
  expect(series.map(({ warning }) => warning)).toEqual(['late_data', 'inventory', 'down']);
  for (const { advice } of series) expect(advice).toMatch(/^[A-Z][^\d]*\.$/);
});
