import { expect, test } from 'vitest';
import { MINUTE, World } from '../harness/world.ts';

test('in economy mode one request an appliance goes out each interval, and each gauge has one writer', async () => {
  const world = await World.begin({
    environment: { PORTAL_MODE: 'economy', PORTAL_FULL_INTERVAL: '1h', PORTAL_COLLECTORS: 'telemetry' },
  });
  // What is promised of each series holds for those that are polled each interval.
  world.judge.excused.push('unasked: ', 'unwell: ', 'stale: ', 'round: ');
  const asked = (operation: string) => world.sent.count(new RegExp(`/${operation}$`));
  const { scrape } = await world.passes(19 * MINUTE);
  const { length: appliances } = world.serials;
  expect(asked('current_appliance_performance')).toBeGreaterThanOrEqual(4 * appliances);
  expect(asked('load_average')).toBe(appliances);
  expect(asked('cache_utilization')).toBe(appliances);
  expect(asked('cpu_utilization')).toBe(0);

  for (const serial of world.serials) {
    const windows = scrape.all('filer_appliance_load_average', { serial }).map(({ labels }) => labels.window ?? '');
    expect(windows.toSorted()).toEqual(['15m', '1m', '5m']);
    for (const name of ['cpu_cores', 'cpu_utilization_ratio', 'uptime_seconds', 'cache_utilization_ratio']) {
      expect(scrape.value(`filer_appliance_${name}`, { serial }), name).toBeDefined();
    }
  }
  expect(scrape.value('filer_exporter_samples_dropped_total', { api: 'portal', reason: 'duplicate' }) ?? 0).toBe(0);
});
