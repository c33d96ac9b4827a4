import { expect, test } from 'vitest';
import { MINUTE_MS } from '../../src/demo/world/waveforms.ts';
import { compareWithSchema } from '../../src/doctor/schema.ts';
import { ADDITIONAL_SERIES, STANDARD_SERIES } from '../../src/services/portal/appliances/series-operations.ts';
import { documentedResponses } from '../../src/services/portal/doctor/documented.ts';
import { type Fields, items, serialOf, start, telemetry } from './ask.ts';

/** The series whose response is one object, and what is requested of them. */
const OBJECTS: Readonly<Record<string, Fields>> = {
  current_appliance_performance: { period: 'PT30M' },
  appliance_health_score: { period: 'PT1H', timezone_offset_minutes: -60 },
};

test.each([...STANDARD_SERIES, ...ADDITIONAL_SERIES])('%s comes in its documented form', async (series) => {
  const { mocks } = await start();
  const documented = documentedResponses[series] ?? {};
  expect(Object.keys(documented)).not.toEqual([]);
  const found: unknown[] = [];
  let records = 0;
  for (const { serial } of mocks.fleet.appliances) {
    const heard = await telemetry(mocks, serial, series, OBJECTS[series]);
    records += series in OBJECTS ? 1 : items(heard).length;
    compareWithSchema(documented, heard.json, (one) => found.push(one));
  }
  expect([found, records > 8]).toEqual([[], true]);
});

test('each form of a period is taken, and bins are as wide as asked', async () => {
  const { mocks, clock } = await start();
  const serial = serialOf(mocks, 'edge-lyon');
  const [start1, end] = [clock.now() - 60 * MINUTE_MS, clock.now() - 30 * MINUTE_MS];
  const iso = (at: number) => new Date(at).toISOString();
  for (const period of [`${start1}/${end}`, `${iso(start1)}/${iso(end)}`]) {
    const records = items(await telemetry(mocks, serial, 'cpu_utilization', { period, bin_size: 300 }));
    expect(records.map((record) => record.time)).toEqual(
      Array.from({ length: 7 }, (_, place) => start1 + place * 5 * MINUTE_MS),
    );
  }
  const [one, two] = items(await telemetry(mocks, serial, 'cpu_utilization', { period: 'P1D' }));
  expect(Number(two?.time) - Number(one?.time)).toBe(4 * MINUTE_MS);
});

test('a bin of null is the usual one', async () => {
  const { mocks } = await start();
  const serial = serialOf(mocks, 'edge-lyon');
  expect((await telemetry(mocks, serial, 'cpu_utilization', { period: 'PT15M', bin_size: null })).status).toBe(200);
});
