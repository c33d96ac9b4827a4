// Only here: a right or a licence that is taken away and given back.
import { expect, test, vi } from 'vitest';
import { Life, MINUTE, PORTAL } from './life.ts';
import { rights } from './stories/rights.ts';
import { tell } from './story.ts';

vi.setConfig({ testTimeout: 120_000 });

tell(rights, 'never');

test('series that are rejected ask once a minute for a licence that is rejected too', async () => {
  const life = await Life.begin({ appliances: 12, series: ['cpu_utilization', 'load_average', 'cache_utilization'] });
  await life.passes(20 * MINUTE);
  const license = /^\/portal\/account\/license/;
  const before = life.sent.count(license);
  life.fails({ operation: PORTAL, kind: 'status', status: 403 });
  await life.passes(10 * MINUTE);
  const asked = life.sent.count(license) - before;
  // Ten to explain, two of its own interval.
  expect(asked).toBeGreaterThan(0);
  expect(asked).toBeLessThanOrEqual(12);
});
