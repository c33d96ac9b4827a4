// Only here: `up` that is not so, for minutes or for good.
import { expect, test } from 'vitest';
import { API_UP, APPLIANCE_UP } from '../harness/names.ts';
import { ACCOUNT, HOUR, MINUTE, TELEMETRY, World } from '../harness/world.ts';

const ALL_SERIES = ['cpu_utilization', 'memory_utilization', 'memory_utilization_details', 'cache_utilization'];
const unavailable = { kind: 'status', status: 503 } as const;

test('telemetry is back within two intervals after an outage of everything, though the account is not', async () => {
  const life = await World.begin();
  await life.passes(20 * MINUTE);
  const calm = life.fails({ operation: TELEMETRY, ...unavailable });
  life.fails({ operation: ACCOUNT, ...unavailable });
  await life.passes(10 * MINUTE);
  calm();
  const { scrape } = await life.passes(10 * MINUTE);
  expect(scrape.sum(API_UP)).toBe(1);
  expect(scrape.sum(APPLIANCE_UP)).toBe(3);
  expect(scrape.all('filer_appliance_cpu_utilization_ratio')).toHaveLength(3);
});

test('a fleet becomes empty while the list of edges fails: its appliances are gone, and the portal is up', async () => {
  const life = await World.begin({ environment: { PORTAL_COLLECTORS: 'telemetry' } });
  await life.passes(20 * MINUTE);
  const gone = life.serials;
  life.judge.forgives = ({ serial = '' }) => gone.includes(serial);
  // Without any appliance the inventory says that the portal is up.
  life.judge.excused.push('up: the portal');
  life.act();
  life.fails({ operation: 'edges', kind: 'status', status: 404 });
  for (const serial of gone) life.services.removeAppliance(serial);
  await life.passes(20 * MINUTE);
  const since = life.sent.count(/telemetry/);
  const { scrape } = await life.passes(HOUR);
  expect(life.sent.count(/telemetry/)).toBe(since);
  expect(scrape.all(APPLIANCE_UP)).toEqual([]);
  expect(scrape.value(API_UP, { api: 'portal' })).toBe(1);
  expect(scrape.value('filer_exporter_inventory_gap_info', { api: 'portal', list: 'all', reason: 'empty' })).toBe(1);
  expect(life.log.filter(({ msg }) => msg.startsWith('the API cannot be polled'))).toEqual([]);
});

test('an exporter that the portal rejects from the start is ready, so that a rollout goes on', async () => {
  const life = await World.begin({ later: true, gfa: true });
  life.fails({ operation: /^(?!data$)/, kind: 'status', status: 429, headers: { 'retry-after': '900' } });
  await life.starts();
  const { ready, scrape } = await life.passes(MINUTE);
  expect(ready).toBe(true);
  expect(scrape.value(API_UP, { api: 'gfa' })).toBe(1);
  expect(scrape.value(API_UP, { api: 'portal' })).toBe(0);
});

test('the page promises an age for the series of the interval, though one that does not fit its build is asked seldom', async () => {
  const life = await World.begin({ series: ALL_SERIES, later: true });
  life.off(life.serials[0] ?? '');
  await life.starts();
  const { scrape } = await life.passes(20 * MINUTE);
  expect(scrape.value('filer_exporter_data_age_computed_worst_seconds', { api: 'portal' })).toBe(450);
  const worst = scrape.value('filer_exporter_data_age_worst_seconds', { api: 'portal' });
  expect(worst).toBeLessThanOrEqual(450);
  expect((await life.page('/status')).text).toContain('at most 7m 30s while healthy');
});
