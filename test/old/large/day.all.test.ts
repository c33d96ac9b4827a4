// Only here: 2,000 appliances in each trouble, and 25 days without an exporter of which nothing is lost.
import { expect, test, vi } from 'vitest';
import { HOUR, Large } from './large.ts';
import { tellLarge, tellMoreShards } from './stories.ts';

vi.setConfig({ testTimeout: 1_200_000, hookTimeout: 1_200_000 });

tellLarge({ appliances: 2_000, intervalMinutes: 60 });
tellMoreShards(2_000);

test('the exporter is away for 25 days: with a catch-up of 30 days every minute arrives', async () => {
  const large = await Large.begin({ appliances: 20, variables: { REMOTE_WRITE_CATCH_UP: '30d' } });
  await large.passes(3 * HOUR);
  await large.stop();
  await large.clock.advance(25 * 24 * HOUR);
  await large.start();
  await large.passes(24 * HOUR);
  expect(await large.expectMinutes()).toBe(0);
  await large.stop();
});
