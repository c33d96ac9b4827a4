import { expect, test } from 'vitest';
import { HOUR, Life, MINUTE } from './life.ts';
import { APPLIANCE_UP } from './names.ts';

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

test('a licence that lapses and comes back is told by its own series and by the page at once', async () => {
  const life = await Life.begin();
  await life.passes(20 * MINUTE);
  const feature = { feature: 'ops_iq_premium' };
  const bought = life.varies({ opsIqPremium: false }, { echoMs: 20 * MINUTE });
  const { scrape } = await life.passes(10 * MINUTE);
  expect(scrape.value('filer_license_feature_enabled', feature)).toBe(0);
  expect((await life.page('/status')).text).toContain('ops_iq_premium');
  expect(scrape.sum(APPLIANCE_UP)).toBe(0);
  await life.passes(HOUR);
  bought();
  const after = await life.passes(22 * MINUTE);
  expect(after.scrape.value('filer_license_feature_enabled', feature)).toBe(1);
  expect((await life.page('/status')).text).not.toContain('lacks ops_iq_premium');
  expect(after.scrape.sum(APPLIANCE_UP)).toBe(3);
});
