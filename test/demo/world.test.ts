import { expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../src/demo/world/waveforms.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { data, get, group, items, serialOf, start, telemetry } from './ask.ts';

test('two pairs of mock services with one seed and one clock say the same, and those with another seed do not', async () => {
  const clock = new ManualClock();
  const [one, other, stranger] = [
    (await start({ clock })).mocks,
    (await start({ clock })).mocks,
    (await start({ clock, seed: 2 })).mocks,
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
  const { mocks, clock } = await start();
  const serial = serialOf(mocks, 'edge-osaka');
  const before = items(await telemetry(mocks, serial, 'network_utilization'));
  await clock.advance(7 * MINUTE_MS);
  const after = items(await telemetry(mocks, serial, 'network_utilization', { period: 'PT1H', bin_size: 60 }));
  expect(after).toEqual(expect.arrayContaining([...before]));
});

test('the silent appliance grows old while the others keep in touch', async () => {
  const { mocks, clock } = await start();
  const ages = async () =>
    group(await data(mocks), 'filers')
      .filter((record) => record.volume_guid === undefined)
      .map((record) => [record.filer_title, Number(record.last_checkin)] as const);
  expect(Math.max(...(await ages()).map(([, age]) => age))).toBeLessThanOrEqual(67);
  await clock.advance(2 * HOUR_MS);
  const old = (await ages()).filter(([, age]) => age > 67);
  expect(old).toEqual([['edge-lima', 7245]]);
});

test('the silent appliance takes no lock and writes nothing, and what waited waits on', async () => {
  const { mocks, clock } = await start();
  const ofLima = async (name: 'filers' | 'locks') =>
    group(await data(mocks), name).filter((record) => record.filer_title === 'edge-lima');
  const waits = async () =>
    (await ofLima('filers')).flatMap(({ oldest_unprotected_data: age }) => (age === undefined ? [] : [Number(age)]));
  const bytes = async () =>
    items(await get(mocks, '/volume_connections'))
      .filter((record) => record.serial === serialOf(mocks, 'edge-lima'))
      .map((record) => record.unprotected_data);
  await clock.advance(HOUR_MS);
  await data(mocks);
  const [ages, written] = [await waits(), await bytes()];
  await clock.advance(HOUR_MS);
  expect(await waits()).toEqual(ages.map((age) => age + 3_600));
  expect(await bytes()).toEqual(written);
  expect(await ofLima('locks')).toEqual([]);
});
