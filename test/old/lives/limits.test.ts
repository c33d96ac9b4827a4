// Only here: a limit that is lifted, shared or rejected, and what it does to values.
import { expect, test } from 'vitest';
import { parseDuration } from '../../src/config/duration.ts';
import { API_UP, APPLIANCE_UP, EFFECTIVE_INTERVAL } from '../harness/names.ts';
import { HOUR, MINUTE, PORTAL, SECOND, SERIES, type Seen, World } from '../harness/world.ts';
import { runHere } from '../support/command.ts';

test('a rejection with a Retry-After holds the whole portal for that long, and nothing else', async () => {
  const life = await World.begin({ appliances: 6, gfa: true, environment: { PORTAL_INTERVAL: '30s' } });
  await life.passes(5 * MINUTE);
  life.fails({ operation: PORTAL, kind: 'status', status: 429, headers: { 'retry-after': '40' }, times: 1 });
  const refused = ({ scrape }: Seen) => scrape.value('filer_exporter_throttled_total', { api: 'portal' }) ?? 0;
  let seen = await life.sees();
  while (refused(seen) === 0) seen = await life.passes(SECOND);
  expect(seen.scrape.value('filer_exporter_pace_requests_per_second', { api: 'portal' })).toBe(0);
  await life.passes(38 * SECOND);
  expect(life.sent.count(/^\/portal/, 37 * SECOND)).toBe(0);
  expect((await life.passes(3 * SECOND)).scrape.sum(API_UP)).toBe(2);
  const { scrape } = await life.passes(2 * MINUTE);
  expect(life.sent.count(/^\/portal/, 2 * MINUTE)).toBeGreaterThan(0);
  expect(scrape.value('filer_exporter_throttled_total', { api: 'portal' })).toBe(1);
});

test('only the appliance whose requests return 429 is held back, and no healthy value expires', async () => {
  const life = await World.begin({ appliances: 10 });
  await life.passes(20 * MINUTE);
  const [serial = ''] = life.serials;
  life.fails({ serial, kind: 'status', status: 429, headers: { 'retry-after': '30' } });
  const before = life.sent.count(/telemetry/);
  for (let minute = 0; minute < 60; minute += 3) {
    const { scrape } = await life.passes(3 * MINUTE);
    const shown = scrape.all('filer_appliance_cpu_utilization_ratio').filter(({ labels }) => labels.serial !== serial);
    expect(shown).toHaveLength(9);
    if (minute > 10) expect(scrape.value(EFFECTIVE_INTERVAL, { api: 'portal' })).toBe(300);
  }
  const { scrape } = await life.sees();
  expect(scrape.value(APPLIANCE_UP, { serial })).toBe(0);
  // The account is not throttled.
  expect(life.log.filter(({ warning }) => warning === 'throttled')).toEqual([]);
  expect(scrape.value('filer_exporter_sweep_duration_seconds', { api: 'portal' })).toBeLessThan(10 * 60);
  // Twelve rounds of nine appliances, each within its interval.
  expect(life.sent.count(/telemetry/) - before).toBeGreaterThan(12 * 9 * SERIES.length * 0.95);
  expect(life.sent.count(new RegExp(serial), HOUR)).toBeLessThan(1.2 * 12 * SERIES.length);
});

test('the effective interval of a fleet is the one that --plan tells beforehand', async () => {
  const environment = { PORTAL_RATE_LIMIT: '10/10s', PORTAL_DISCOVERY_INTERVAL: '1m' };
  const life = await World.begin({ appliances: 120, environment });
  const { scrape } = await life.passes(2 * MINUTE);
  const told = scrape.value(EFFECTIVE_INTERVAL, { api: 'portal' }) ?? 0;
  const { stdout } = await runHere(['--plan', '--appliances', '120'], {
    environment: { PORTAL_SERIES: SERIES.join(), ...environment },
  });
  const [, planned = ''] = /^Effective interval +(\S+)$/m.exec(stdout) ?? [];
  expect(told).toBeGreaterThan(360);
  // Some appliances of the mock portal have no details to be asked for.
  expect(told / ((parseDuration(planned) ?? 0) / SECOND)).toBeCloseTo(1, 2);
});
