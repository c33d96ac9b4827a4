import { expect, test } from 'vitest';
import { loadWindow } from '../../../../src/services/portal/appliances/series-families.ts';
import { familiesOf } from '../../../../src/services/portal/appliances/series-operations.ts';
import type { PortalOptions } from '../../../../src/services/portal/context.ts';
import { configOf, portalOnly } from '../../../harness/load-config.ts';
import { valuesOf } from '../../../harness/sample-values.ts';
import { every5m, FakePortal, poll, taskOf } from './fake-portal.ts';

const SERIAL = '00000000-0000-4000-8000-00000000000a';
const TIME = Date.UTC(2026, 2, 2, 10) / 1000;
const LABELS = `serial="${SERIAL}",filer="${SERIAL}"`;

/** Polls one series of an appliance of PORTAL_SERIALS. */
async function polled(series: string, body: object, options: Partial<PortalOptions> = {}) {
  const portal = new FakePortal(() => body);
  const collector = portal.collector({ series: every5m(series), serials: [SERIAL], ...options });
  const { samples, drops, empty } = await poll(taskOf(collector, series));
  return { values: valuesOf(samples), drops, empty };
}

test('a series has the time of the newest record that holds a value, in any order of the records', async () => {
  const items = [2, 0, 1].map((second) => ({
    time: (TIME - 60 + second) * 1000,
    cpu_usage: second === 2 ? null : String(50 * second),
  }));
  const { values } = await polled('cpu_utilization', { items });
  expect(values).toEqual({
    [`filer_appliance_cpu_utilization_ratio{${LABELS}}`]: 0.5,
    [`filer_appliance_series_timestamp_seconds{${LABELS},series="cpu_utilization"}`]: TIME - 59,
  });
});

test('records with nulls only give no sample and no drop; no record at all is empty', async () => {
  const nulls = await polled('cpu_utilization', { items: [{ time: TIME * 1000, cpu_usage: null }] });
  expect([nulls.values, nulls.drops.size, nulls.empty]).toEqual([{}, 0, false]);
  const none = await polled('load_average', { items: [], num_cores: 4 });
  expect([none.values, none.empty]).toEqual([{ [`filer_appliance_cpu_cores{${LABELS}}`]: 4 }, true]);
});

test.each<[PortalOptions['units'], string, object, string, number]>([
  [[], 'cpu_utilization', { cpu_usage: '50' }, 'cpu_utilization_ratio', 0.5],
  [['ratio'], 'cpu_utilization', { cpu_usage: '0.5' }, 'cpu_utilization_ratio', 0.5],
  [['memory_bytes'], 'memory_utilization_details', { total: 1024 }, 'memory_total_bytes', 1024],
  [['ratio'], 'memory_utilization_details', { total: 1 }, 'memory_total_bytes', 1024],
])('with PORTAL_UNITS=%s %s of %j is %s %d', async (units, series, record, name, value) => {
  const { values } = await polled(series, { items: [{ time: TIME * 1000, ...record }] }, { units });
  expect(values[`filer_appliance_${name}{${LABELS}}`]).toBe(value);
});

test('PORTAL_UNITS=documented converts nothing, and each collector has its own interval', async () => {
  const { portal } = await configOf({ ...portalOnly, PORTAL_UNITS: 'documented', PORTAL_COLLECTORS: 'all' });
  expect(portal?.units).toEqual([]);
  const minutes = portal?.collectors.map(({ name, intervalMs }) => `${name} ${intervalMs / 60_000}`).join(', ');
  expect(minutes).toBe(
    'volumes 5, volume_telemetry 15, edges 60, fiq 15, license 60, notifications 5, jobs 5, credentials 15, indexing 15, stacks 60, software 60, iam 60, health 5, gfa_keys 60',
  );
});

test('a rate of cache requests is the number in a bin of the configured length', async () => {
  const items = [{ time: TIME * 1000, cache_reads: 2 }];
  const { values } = await polled('cache_hits_misses', { items }, { units: ['requests_per_second'], binSeconds: 300 });
  expect(values[`filer_appliance_cache_requests{${LABELS},result="hit"}`]).toBe(600);
});

test('the summary exposes what no other polled series has, so that no value jumps between two means', () => {
  const summary = (...series: readonly string[]) =>
    familiesOf('current_appliance_performance', series).map(({ name }) => name.replace('filer_appliance_', ''));
  const own = ['uptime_seconds', 'cpu_utilization_ratio', 'load_average', 'cpu_cores'];
  expect(summary('current_appliance_performance')).toEqual(own);
  expect(summary('current_appliance_performance', 'cpu_utilization')).toEqual(own.toSpliced(1, 1));
  expect(summary('load_average', 'current_appliance_performance')).toEqual(own.slice(0, 2));
});

test.each([
  ['1m', ['load1', 'one_minute_load_average', 'shortterm']],
  ['5m', ['load_5', 'five_minute_load_average', 'midterm']],
  ['15m', ['load15', 'fifteen_minute_load_average', 'longterm']],
])('the window %s is found in each spelling', (window, fields) => {
  expect(fields.map(loadWindow)).toEqual([window, window, window]);
});

test.each([
  ['90', 'Healthy', 90, 'healthy'],
  ['90', ' - ', 90, undefined],
  [90, null, 90, undefined],
  ['Good', null, undefined, 'good'],
])('the health score %j with the status %j is %j and %j', async (health_score, health_status, score, status) => {
  const { values } = await polled('appliance_health_score', { health_score, description: { health_status } });
  const infos = Object.keys(values).filter((series) => series.startsWith('filer_appliance_health_info'));
  expect(infos).toEqual(status === undefined ? [] : [`filer_appliance_health_info{${LABELS},status="${status}"}`]);
  expect(values[`filer_appliance_health_score{${LABELS}}`]).toBe(score);
});
