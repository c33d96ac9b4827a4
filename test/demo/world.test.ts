import { expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../src/demo/world/signals.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { ask, data, get, group, items, serialOf, start, telemetry } from './ask.ts';

test('two stand-ins with one seed and one clock say the same, and one with another seed does not', async () => {
  const clock = new ManualClock();
  const [one, other, stranger] = [
    (await start({ clock })).standIn,
    (await start({ clock })).standIn,
    (await start({ clock, seed: 2 })).standIn,
  ];
  await clock.advance(HOUR_MS);
  const serial = serialOf(one, 'edge-lyon');
  expect(other.credentials).toEqual(one.credentials);
  expect(stranger.credentials).not.toEqual(one.credentials);
  expect((await data(other)).text).toBe((await data(one)).text);
  expect((await data(stranger)).text).not.toBe((await data(one)).text);
  expect((await get(other, '/volume_connections')).text).toBe((await get(one, '/volume_connections')).text);
  const [cpuOfOne, cpuOfOther] = [
    await telemetry(one, serial, 'cpu_utilization'),
    await telemetry(other, serial, 'cpu_utilization'),
  ];
  expect(items(cpuOfOne)).not.toEqual([]);
  expect(cpuOfOther.text).toBe(cpuOfOne.text);
});

test('what was said of a minute is said of it again later', async () => {
  const { standIn, clock } = await start();
  const serial = serialOf(standIn, 'edge-osaka');
  const before = items(await telemetry(standIn, serial, 'network_utilization'));
  await clock.advance(7 * MINUTE_MS);
  const after = items(await telemetry(standIn, serial, 'network_utilization', { period: 'PT1H', bin_size: 60 }));
  expect(after).toEqual(expect.arrayContaining([...before]));
});

test('the silent appliance grows old while the others keep in touch', async () => {
  const { standIn, clock } = await start();
  const ages = async () =>
    group(await data(standIn), 'filers')
      .filter((record) => record.volume_guid === undefined)
      .map((record) => [record.filer_title, Number(record.last_checkin)] as const);
  expect(Math.max(...(await ages()).map(([, age]) => age))).toBeLessThanOrEqual(67);
  await clock.advance(2 * HOUR_MS);
  const old = (await ages()).filter(([, age]) => age > 67);
  expect(old).toEqual([['edge-lima', 7245]]);
});

test('one cache fills up and then evicts', async () => {
  const { standIn } = await start();
  const serial = serialOf(standIn, 'edge-leeds');
  const day = items(await telemetry(standIn, serial, 'cache_utilization', { period: 'P1D', bin_size: 600 }));
  const levels = day.map((record) => Number(record.cache_utilization));
  const drops = levels.filter((level, place) => level < (levels[place - 1] ?? 0) - 10);
  expect(Math.max(...levels)).toBeGreaterThan(95);
  expect(drops.length).toBeGreaterThanOrEqual(2);
  expect(drops.length).toBeLessThanOrEqual(6);
});

test('one volume takes hours to protect its data', async () => {
  const { standIn } = await start();
  const slow = group(await data(standIn), 'volumes').filter((record) => Number(record.time_to_protect) > 4 * 3600 - 1);
  expect(slow.map((record) => record.volume_title)).toEqual(['archive']);
  const waiting = group(await data(standIn), 'filers').filter((record) => record.volume_title === 'archive');
  expect(waiting.length).toBeGreaterThan(0);
  for (const record of waiting) expect(record.oldest_unprotected_data).toBeGreaterThan(3 * 3600 - 1);
});

test('appliances join, leave and are renamed while it runs, and volumes are renamed', async () => {
  const { standIn, clock } = await start({ appliances: 3 });
  const joined = standIn.addAppliance();
  expect(standIn.fleet.appliances).toHaveLength(4);
  expect(items(await telemetry(standIn, joined.serial, 'cpu_utilization'))).toEqual([]);
  await clock.advance(10 * MINUTE_MS);
  expect(items(await telemetry(standIn, joined.serial, 'cpu_utilization')).length).toBeGreaterThan(0);

  const gone = serialOf(standIn, 'edge-lyon');
  standIn.removeAppliance(gone);
  expect((await telemetry(standIn, gone, 'cpu_utilization')).status).toBe(404);
  expect(items(await get(standIn, '/serials')).map(({ id }) => id)).not.toContain(gone);
  const heard = await data(standIn);
  expect(group(heard, 'filers').map((record) => record.filer_guid)).not.toContain(gone);
  expect(group(heard, 'locks').map((record) => record.filer_guid)).toContain(gone);

  const [volume] = standIn.fleet.volumes;
  standIn.renameAppliance(joined.serial, 'edge-new-name');
  standIn.renameVolume(volume?.guid ?? '', 'plans');
  expect(group(await data(standIn), 'filers').map((record) => record.filer_title)).toContain('edge-new-name');
  expect(group(await data(standIn), 'volumes').map((record) => record.volume_title)).toContain('plans');
});

test('a large fleet has distinct names and serials', async () => {
  const { standIn } = await start({ appliances: 200, volumes: 12 });
  const { appliances, volumes } = standIn.fleet;
  expect(new Set(appliances.map(({ title }) => title)).size).toBe(200);
  expect(new Set(appliances.map(({ serial }) => serial)).size).toBe(200);
  expect(new Set(volumes.map(({ title }) => title)).size).toBe(12);
});

test('what is unknown is 404, what might change something is 405, and both are on record', async () => {
  const { standIn } = await start();
  expect((await ask('GET', `${standIn.portalUrl}/users?page=2`)).status).toBe(404);
  expect((await ask('GET', `${standIn.gfaUrl}/other`)).status).toBe(404);
  expect((await ask('PATCH', `${standIn.portalUrl}/account`, { body: '{}' })).status).toBe(405);
  expect((await ask('POST', `${standIn.portalUrl}/jobs/1/acknowledge`)).status).toBe(405);
  expect((await ask('DELETE', `${standIn.gfaUrl}/data`)).status).toBe(405);
  expect(
    standIn.requests.map(({ method, path, query, operation, status }) => ({ method, path, query, operation, status })),
  ).toEqual([
    { method: 'GET', path: '/users', query: 'page=2', operation: 'unknown', status: 404 },
    { method: 'GET', path: '/other', query: '', operation: 'unknown', status: 404 },
    { method: 'PATCH', path: '/account', query: '', operation: 'unknown', status: 405 },
    { method: 'POST', path: '/jobs/1/acknowledge', query: '', operation: 'unknown', status: 405 },
    { method: 'DELETE', path: '/data', query: '', operation: 'unknown', status: 405 },
  ]);
});
