import { expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../src/demo/world/waveforms.ts';
import { data, get, group, items, serialOf, start, telemetry } from './ask.ts';

test('what was said of a minute is said of it again later', async () => {
  const { mocks, clock } = await start();
  const serial = serialOf(mocks, 'edge-osaka');
  const before = items(await telemetry(mocks, serial, 'network_utilization'));
  await clock.advance(7 * MINUTE_MS);
  const after = items(await telemetry(mocks, serial, 'network_utilization', { period: 'PT1H', bin_size: 60 }));
  expect(after).toEqual(expect.arrayContaining([...before]));
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
