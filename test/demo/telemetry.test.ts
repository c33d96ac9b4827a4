import { expect, test } from 'vitest';
import { MINUTE_MS } from '../../src/demo/world/waveforms.ts';
import { compareWithSchema } from '../../src/doctor/schema.ts';
import { ADDITIONAL_SERIES, STANDARD_SERIES } from '../../src/services/portal/appliances/series-operations.ts';
import { documentedResponses } from '../../src/services/portal/doctor/documented.ts';
import { items, serialOf, start, telemetry } from './ask.ts';

const OBJECTS: readonly string[] = ['current_appliance_performance', 'appliance_health_score'];

test.each([...STANDARD_SERIES, ...ADDITIONAL_SERIES].filter((series) => !OBJECTS.includes(series)))(
  '%s comes in its documented form',
  async (series) => {
    const { mocks } = await start();
    const found: unknown[] = [];
    let records = 0;
    for (const { serial } of mocks.fleet.appliances) {
      const heard = await telemetry(mocks, serial, series);
      expect(heard.json, 'src/demo/portal/appliances/series.ts').toHaveProperty('items');
      records += items(heard).length;
      compareWithSchema(documentedResponses[series] ?? {}, heard.json, (one) => found.push(one));
    }
    expect([found, records > 8]).toEqual([[], true]);
  },
);

test('the two single objects have the documented fields', async () => {
  const { mocks } = await start();
  const serial = serialOf(mocks, 'edge-lyon');
  const current = (await telemetry(mocks, serial, 'current_appliance_performance', { period: 'PT30M' })).json;
  expect(current).toEqual({
    metadata: {},
    cpu_util: expect.stringMatching(/^\d+(\.\d+)?$/),
    available_memory: expect.stringMatching(/^\d+(\.\d+)?$/),
    fifteen_minute_load_average: expect.stringMatching(/^\d+(\.\d+)?$/),
    uptime: expect.any(Number),
    num_cores: 8,
    time: expect.any(Number),
  });
  const body = { period: 'PT1H', timezone_offset_minutes: -60 };
  const health = (await telemetry(mocks, serial, 'appliance_health_score', body)).json;
  expect(health).toMatchObject({
    serial_number: serial,
    appliance_name: 'edge-lyon',
    health_score: expect.stringMatching(/^\d+$/),
    statistics: { cpu_count: 8, avg_load: expect.any(String), max_load: expect.any(String) },
    description: { health_status: expect.any(String), overview: expect.any(String) },
    raw_data: { title: expect.any(String), column_names: ['time', 'value'], data: expect.any(Array) },
  });
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
