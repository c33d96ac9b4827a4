import { expect, test } from 'vitest';
import type { StandIn } from '../../src/demo/stand-in.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/demo/world/signals.ts';
import { data, type Fields, group, start } from './ask.ts';

const eventNames = (records: readonly Fields[]) =>
  records.map(({ filer_guid, volume_guid, timestamp, lock_state, kind, prop_seconds }) =>
    [filer_guid, volume_guid, timestamp, lock_state, kind, prop_seconds].join(' '),
  );

async function events(standIn: StandIn, client = 'exporter'): Promise<readonly string[]> {
  const heard = await data(standIn, '', { 'X-Service-client-key': client });
  return eventNames([...group(heard, 'locks'), ...group(heard, 'propagation')]);
}

test('the first call has every group, with history and state at hand', async () => {
  const { standIn } = await start();
  const heard = await data(standIn);
  const { info, version, flags } = heard.json as { info: Fields; version: number; flags: Fields };
  expect({ version, flags }).toEqual({ version: 1, flags: {} });
  expect(new Set(Object.keys(info))).toEqual(
    new Set(['account', 'last_info', 'last_lock_event', 'last_propagation', 'request_time', 'volumes']),
  );
  expect(group(heard, 'volumes')).toHaveLength(5);
  expect(group(heard, 'filers').filter((record) => record.volume_guid === undefined)).toHaveLength(12);
  expect(group(heard, 'locks').length).toBeGreaterThan(200);
  expect(group(heard, 'propagation').length).toBeGreaterThan(200);
});

test('a lock is acquired and then released after as many seconds as it says', async () => {
  const { standIn } = await start();
  const locks = group(await data(standIn), 'locks');
  const [released] = locks.filter((record) => record.lock_state === 'RELEASED').slice(-1);
  const acquired = locks.filter(
    (record) =>
      record.lock_state === 'ACQUIRED' &&
      record.filer_guid === released?.filer_guid &&
      record.volume_guid === released?.volume_guid,
  );
  const heldSeconds = Number(released?.lock_duration);
  const since = acquired.map(
    (record) => (Date.parse(String(released?.timestamp)) - Date.parse(String(record.timestamp))) / 1000,
  );
  expect(since).toContain(heldSeconds);
  expect(heldSeconds).toBeGreaterThanOrEqual(5);
  expect(heldSeconds).toBeLessThanOrEqual(120);
  expect(acquired.every((record) => record.lock_duration === undefined)).toBe(true);
});

test('incremental delivery gives each event once', async () => {
  const { standIn, clock } = await start();
  const seen = [...(await events(standIn))];
  expect(await events(standIn)).toEqual([]);
  for (let minute = 0; minute < 30; minute += 1) {
    await clock.advance(MINUTE_MS);
    seen.push(...(await events(standIn)));
  }
  standIn.vary({ freshHistoryMs: HOUR_MS + 30 * MINUTE_MS });
  const whole = await events(standIn, 'another client');
  expect(seen).toHaveLength(whole.length);
  expect(new Set(seen)).toEqual(new Set(whole));
});

test('each client key has bookmarks of its own, and no key is a key too', async () => {
  const { standIn } = await start();
  const first = await events(standIn, 'one');
  expect(await events(standIn, 'other')).toEqual(first);
  expect(await events(standIn, 'swagger client')).toEqual(first);
  expect(group(await data(standIn), 'locks')).toEqual([]);
});

test('a group that is switched off keeps its bookmark', async () => {
  const { standIn } = await start();
  await data(standIn, '?lock_metrics=false');
  expect(group(await data(standIn), 'propagation')).toEqual([]);
  standIn.vary({ freshHistoryMs: 0 });
  expect(group(await data(standIn, '', { 'X-Service-client-key': 'fresh' }), 'locks')).toEqual([]);
});

test('overlapping delivery repeats the last minutes', async () => {
  const { standIn, clock } = await start({ variations: { delivery: 'overlapping' } });
  const first = await events(standIn);
  await clock.advance(MINUTE_MS);
  const second = await events(standIn);
  const repeated = second.filter((name) => first.includes(name));
  expect(repeated.length).toBeGreaterThan(0);
  expect(repeated.length).toBeLessThan(second.length);
  expect(repeated.length).toBeLessThan(first.length / 4);
});

test('full delivery gives the whole window each time', async () => {
  const { standIn } = await start({ variations: { delivery: 'full' } });
  const first = await events(standIn);
  expect(first.length).toBeGreaterThan(0);
  expect(await events(standIn)).toEqual(first);
});

test('the client header can have another name', async () => {
  const { standIn } = await start({ variations: { clientKeyHeader: 'X-Vendor-client-key' } });
  await data(standIn, '', { 'X-Vendor-client-key': 'one' });
  expect(group(await data(standIn, '', { 'X-Vendor-client-key': 'one' }), 'locks')).toEqual([]);
  expect(group(await data(standIn, '', { 'X-Service-client-key': 'one' }), 'locks')).not.toEqual([]);
});

test('metrics come as an array, as an object, or in several objects', async () => {
  const { standIn } = await start({ variations: { delivery: 'full' } });
  const metrics = async () => ((await data(standIn)).json as { metrics: unknown }).metrics;
  const [whole] = (await metrics()) as [Record<string, readonly unknown[]>];
  standIn.vary({ metricsShape: 'object' });
  expect(await metrics()).toEqual(whole);
  standIn.vary({ metricsShape: 'split' });
  const parts = (await metrics()) as Record<string, readonly unknown[]>[];
  expect(parts.length).toBeGreaterThan(1);
  for (const [name, records] of Object.entries(whole)) {
    const joined = parts.flatMap((part) => part[name] ?? []);
    expect(joined).toHaveLength(records.length);
    expect(joined).toEqual(expect.arrayContaining([...records]));
  }
});

test('a group that is switched off is empty or missing', async () => {
  const { standIn } = await start();
  const query = '?filer_metrics=false&volume_metrics=false&lock_metrics=false&propagation_metrics=true';
  const groups = async () => ((await data(standIn, query)).json as { metrics: Fields[] }).metrics[0];
  expect(await groups()).toMatchObject({ filers: [], volumes: [], locks: [] });
  standIn.vary({ switchedOff: 'missing' });
  expect(Object.keys((await groups()) ?? {})).toEqual(['propagation']);
});

test('the Observation volume has an empty profile, and so have all when asked for', async () => {
  const { standIn } = await start();
  const profiles = async () => group(await data(standIn), 'volumes').map(({ mode, profile }) => [mode, profile]);
  expect((await profiles()).filter(([, profile]) => profile === '')).toEqual([['Observation', '']]);
  standIn.vary({ emptyProfile: true });
  expect((await profiles()).every(([, profile]) => profile === '')).toBe(true);
});

test('unknown states turn up among the known ones', async () => {
  const { standIn } = await start({ variations: { unknownStates: true, delivery: 'full' } });
  const heard = await data(standIn);
  const values = (name: 'locks' | 'propagation', field: string) =>
    new Set(group(heard, name).map((record) => record[field]));
  expect(values('locks', 'lock_state')).toEqual(new Set(['ACQUIRED', 'EXPIRED', 'RELEASED']));
  expect(values('locks', 'lock_phase')).toEqual(new Set(['P2', 'P3']));
  expect(values('propagation', 'kind')).toEqual(new Set(['attributes', 'data', 'metadata']));
  standIn.vary({ unknownStates: false });
  const known = await data(standIn);
  expect(new Set(group(known, 'locks').map((record) => record.lock_phase))).toEqual(new Set(['P2']));
});

test('optional fields can be left out, and an undocumented one put in', async () => {
  const { standIn } = await start({ variations: { delivery: 'full' } });
  const having = async (name: 'filers' | 'locks' | 'propagation', field: string) =>
    group(await data(standIn), name).filter((record) => field in record).length;
  expect(await having('filers', 'oldest_unprotected_data')).toBeGreaterThan(0);
  expect(await having('locks', 'lock_duration')).toBeGreaterThan(0);
  expect(await having('propagation', 'data_protected')).toBe(0);
  standIn.vary({ omitOptional: true, dataProtected: true });
  expect(await having('filers', 'oldest_unprotected_data')).toBe(0);
  expect(await having('locks', 'lock_duration')).toBe(0);
  expect(await having('propagation', 'data_protected')).toBeGreaterThan(0);
});

test('timestamps are whole seconds, or have fractions', async () => {
  const { standIn } = await start({ variations: { delivery: 'full' } });
  const stamps = async () => group(await data(standIn), 'locks').map((record) => String(record.timestamp));
  for (const stamp of await stamps()) expect(stamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  standIn.vary({ fractionalTimestamps: true });
  for (const stamp of await stamps()) expect(stamp).toMatch(/T\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('an account without volumes is 406', async () => {
  const { standIn } = await start({ volumes: 0 });
  expect(await data(standIn)).toMatchObject({ status: 406, json: { error: expect.any(String) } });
});

test('appliances can go by a guid and a title of the accelerator’s own', async () => {
  const { standIn } = await start({ variations: { filerGuids: 'upper', filerTitles: 'own' } });
  const serials = standIn.fleet.appliances.map(({ serial }) => serial);
  const guids = async () => new Set(group(await data(standIn), 'filers').map(({ filer_guid }) => filer_guid));
  expect(await guids()).toEqual(new Set(serials.map((serial) => serial.toUpperCase())));
  expect(group(await data(standIn), 'filers')[0]?.filer_title).toBe('edge-lyon.accelerated');
  standIn.vary({ filerGuids: 'own' });
  for (const guid of await guids()) expect(serials).not.toContain(guid);
});
