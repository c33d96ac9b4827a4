import { expect, test } from 'vitest';
import type { MockServices } from '../../src/demo/mock-services.ts';
import { exporter, portalEnvironment, services, until } from '../support/live.ts';

test('in economy mode one request an appliance goes out each interval, and each gauge has one writer', async () => {
  const mocks = await services();
  const live = await exporter({
    ...portalEnvironment(mocks),
    PORTAL_MODE: 'economy',
    PORTAL_FULL_INTERVAL: '1h',
    PORTAL_COLLECTORS: 'telemetry',
    PORTAL_SERIES: 'load_average,cpu_utilization,cache_utilization',
  });
  const { length: appliances } = mocks.fleet.appliances;
  const scrape = await until(
    'four rounds of the short interval',
    async () => asked(mocks, 'current_appliance_performance') >= 4 * appliances && live.scrape(),
  );
  expect(asked(mocks, 'load_average')).toBe(appliances);
  expect(asked(mocks, 'cache_utilization')).toBe(appliances);
  expect(asked(mocks, 'cpu_utilization')).toBe(0);

  for (const { serial } of mocks.fleet.appliances) {
    const windows = scrape.all('filer_appliance_load_average', { serial }).map(({ labels }) => labels.window ?? '');
    expect(windows.toSorted()).toEqual(['15m', '1m', '5m']);
    for (const name of ['cpu_cores', 'cpu_utilization_ratio', 'uptime_seconds', 'cache_utilization_ratio']) {
      expect(scrape.value(`filer_appliance_${name}`, { serial }), name).toBeDefined();
    }
  }
  expect(scrape.value('filer_exporter_samples_dropped_total', { api: 'portal', reason: 'duplicate' }) ?? 0).toBe(0);
});

function asked(mocks: MockServices, operation: string): number {
  return mocks.requests.filter((request) => request.operation === operation).length;
}
