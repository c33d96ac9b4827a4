import { expect, test, vi } from 'vitest';
import { HOUR, Life, MINUTE } from './life.ts';

// Days pass in each: on a busy machine that takes a while.
vi.setConfig({ testTimeout: 120_000 });

test('a limit that is lifted makes no value vanish', async () => {
  const life = await Life.begin({
    appliances: 24,
    environment: { PORTAL_RATE_LIMIT: '50/30s', PORTAL_INTERVAL: '60s' },
    variations: { rateLimit: { kind: 'sliding-window', requests: 6, windowMs: 30_000 } },
  });
  await life.passes(HOUR);
  const before = (await life.sees()).scrape.all('filer_appliance_cpu_utilization_ratio').length;
  expect(before).toBe(24);
  life.varies({ rateLimit: null });
  for (let minute = 0; minute < 20; minute += 1) {
    const { scrape } = await life.passes(MINUTE);
    expect(scrape.all('filer_appliance_cpu_utilization_ratio')).toHaveLength(24);
  }
});
