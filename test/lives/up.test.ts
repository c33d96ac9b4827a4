// Only here: `up` that is not so, for minutes or for good.
import { expect, test } from 'vitest';
import { shortened } from '../harness/bodies.ts';
import { API_UP, APPLIANCE_UP, DOWN_REASON } from '../harness/names.ts';
import { ACCOUNT, HOUR, MINUTE, SECOND, TELEMETRY, World } from '../harness/world.ts';

const ALL_SERIES = ['cpu_utilization', 'memory_utilization', 'memory_utilization_details', 'cache_utilization'];
const unavailable = { kind: 'status', status: 503 } as const;

/** Requests that a healthy exporter of four appliances with three series sends in an hour, telemetry alone. */
const HEALTHY = 4 * 3 * 12;

test('telemetry that fails while the account answers is asked less, and turns nothing on and off', async () => {
  const life = await World.begin({ appliances: 4, lookMs: 4 * MINUTE });
  await life.passes(10 * MINUTE);
  const calm = life.fails({ operation: TELEMETRY, ...unavailable });
  await life.passes(20 * MINUTE);
  const { scrape } = await life.passes(HOUR);
  expect(scrape.sum(API_UP)).toBe(0);
  expect(scrape.sum(APPLIANCE_UP)).toBe(0);
  expect(scrape.value(DOWN_REASON, { api: 'portal', reason: 'server_error' })).toBe(1);
  expect(life.sent.count(/telemetry/, HOUR)).toBeLessThan(HEALTHY);
  calm();
  const after = await life.passes(10 * MINUTE);
  expect(after.scrape.sum(API_UP)).toBe(1);
  expect(after.scrape.sum(APPLIANCE_UP)).toBe(4);
});

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

test('a service that rejects everything is down after four intervals at most, and says why', async () => {
  const life = await World.begin();
  await life.passes(20 * MINUTE);
  const calm = life.fails({ kind: 'status', status: 429, headers: { 'retry-after': '900' } });
  const { scrape } = await life.passes(21 * MINUTE);
  expect(scrape.all('filer_appliance_cpu_utilization_ratio')).toHaveLength(0);
  expect(scrape.sum(API_UP)).toBe(0);
  expect(scrape.sum(APPLIANCE_UP)).toBe(0);
  expect(scrape.value(DOWN_REASON, { api: 'portal', reason: 'throttled' })).toBe(1);
  expect((await life.page('/status')).text).toContain('throttled');
  calm();
  await life.passes(25 * MINUTE);
});

test('one empty list of serials, and one half list, take no appliance away', async () => {
  const life = await World.begin({ appliances: 6, lookMs: 4 * MINUTE });
  await life.passes(10 * MINUTE);
  for (const share of [0, 0.5]) {
    let lists = 0;
    const calm = life.edits({
      path: /\/serials/,
      change: (body) => {
        lists += 1;
        return lists > 2 ? body : shortened(body, share);
      },
    });
    const { scrape } = await life.passes(20 * MINUTE);
    expect(lists).toBeGreaterThanOrEqual(2);
    calm();
    expect(scrape.sum(APPLIANCE_UP)).toBe(6);
    expect(scrape.all('filer_appliance_cpu_utilization_ratio')).toHaveLength(6);
  }
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

test('one 503 of the token service, with the token revoked, takes nothing down', async () => {
  const life = await World.begin({ variations: { tokenLifetimeMs: HOUR }, lookMs: 10 * SECOND });
  await life.passes(2 * MINUTE);
  life.judge.excused.push('falls', 'jumps');
  life.fails({ operation: 'token', times: 1, ...unavailable });
  life.fails({ operation: TELEMETRY, times: 1, kind: 'status', status: 401 });
  life.act();
  for (let looks = 0; looks < 20; looks += 1) {
    const { scrape } = await life.passes(10 * SECOND);
    expect(scrape.sum(API_UP)).toBe(1);
    expect(scrape.sum(APPLIANCE_UP)).toBe(3);
  }
  expect(life.sent.count(/auth\/token$/)).toBeGreaterThan(2);
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

test('a round is every appliance there is: before all have been asked none has ended', async () => {
  const life = await World.begin({ appliances: 40, environment: { PORTAL_RATE_LIMIT: '10/10s' } });
  const name = 'filer_exporter_sweep_duration_seconds';
  expect((await life.passes(MINUTE)).scrape.value(name, { api: 'portal' })).toBeUndefined();
  const { scrape } = await life.passes(5 * MINUTE);
  expect(scrape.value(name, { api: 'portal' })).toBeGreaterThan(100);
});
