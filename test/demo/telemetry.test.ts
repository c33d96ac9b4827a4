import { expect, test } from 'vitest';
import type { LoadNames } from '../../src/demo/variations.ts';
import { MINUTE_MS } from '../../src/demo/world/signals.ts';
import { unexpectedIn } from '../../src/doctor/documented.ts';
import { FURTHER_SERIES, STANDARD_SERIES } from '../../src/sources/portal/appliances/operations.ts';
import { documentedAnswers } from '../../src/sources/portal/documented.ts';
import { type Fields, items, serialOf, start, telemetry } from './ask.ts';

const newest = (records: readonly Fields[]) => Math.max(...records.map((record) => Number(record.time)));

test.each([...STANDARD_SERIES, ...FURTHER_SERIES].slice(0, 20))('%s comes in its documented form', async (series) => {
  const { standIn } = await start();
  const found: unknown[] = [];
  let records = 0;
  for (const { serial } of standIn.fleet.appliances) {
    const heard = await telemetry(standIn, serial, series);
    records += items(heard).length;
    unexpectedIn(documentedAnswers[series] ?? {}, heard.json, (one) => found.push(one));
  }
  expect([found, records > 8]).toEqual([[], true]);
});

test('the two single objects have the documented fields', async () => {
  const { standIn } = await start();
  const serial = serialOf(standIn, 'edge-lyon');
  const current = (await telemetry(standIn, serial, 'current_appliance_performance', { period: 'PT30M' })).json;
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
  const health = (await telemetry(standIn, serial, 'appliance_health_score', body)).json;
  expect(health).toMatchObject({
    serial_number: serial,
    appliance_name: 'edge-lyon',
    health_score: expect.stringMatching(/^\d+$/),
    statistics: { cpu_count: 8, avg_load: expect.any(String), max_load: expect.any(String) },
    description: { health_status: expect.any(String), overview: expect.any(String) },
    raw_data: { title: expect.any(String), column_names: ['time', 'value'], data: expect.any(Array) },
  });
  standIn.vary({ healthScore: 'word' });
  expect((await telemetry(standIn, serial, 'appliance_health_score', body)).json).toMatchObject({
    health_score: expect.stringMatching(/^(Healthy|Warning)$/),
  });
});

test('the newest point is at most some minutes old, and every appliance reports at a moment of its own', async () => {
  const { standIn, clock } = await start();
  const ages = new Set<number>();
  for (const { serial } of standIn.fleet.appliances) {
    const ageMs = clock.now() - newest(items(await telemetry(standIn, serial, 'cpu_utilization')));
    expect(ageMs).toBeGreaterThanOrEqual(0);
    expect(ageMs).toBeLessThanOrEqual(6 * MINUTE_MS);
    ages.add(ageMs);
  }
  expect(ages.size).toBeGreaterThan(2);
});

test('each form of a period is taken, and bins are as wide as asked', async () => {
  const { standIn, clock } = await start();
  const serial = serialOf(standIn, 'edge-lyon');
  const [start1, end] = [clock.now() - 60 * MINUTE_MS, clock.now() - 30 * MINUTE_MS];
  const iso = (at: number) => new Date(at).toISOString();
  for (const period of [`${start1}/${end}`, `${iso(start1)}/${iso(end)}`]) {
    const records = items(await telemetry(standIn, serial, 'cpu_utilization', { period, bin_size: 300 }));
    expect(records.map((record) => record.time)).toEqual(
      Array.from({ length: 7 }, (_, place) => start1 + place * 5 * MINUTE_MS),
    );
  }
  const [one, two] = items(await telemetry(standIn, serial, 'cpu_utilization', { period: 'P1D' }));
  expect(Number(two?.time) - Number(one?.time)).toBe(4 * MINUTE_MS);
});

test('a request that is not as documented is 422 and says where', async () => {
  const { standIn } = await start();
  const serial = serialOf(standIn, 'edge-lyon');
  const bad: Fields[] = [
    {},
    { period: 15 },
    { period: '15m' },
    { period: 'P' },
    { period: 'PT5M' },
    { period: 'P31D' },
    { period: '2026-03-02T10:00:00Z/yesterday' },
    { period: 'PT15M', bin_size: 59 },
    { period: 'PT15M', bin_size: 60.5 },
    { period: 'PT15M', bin_size: '60' },
    { period: 'PT15M', panel_width: 99 },
    { period: 'PT15M', binsize: 60 },
  ];
  for (const body of bad) {
    const heard = await telemetry(standIn, serial, 'cpu_utilization', body);
    expect(heard.status, JSON.stringify(body)).toBe(422);
    expect(heard.json).toMatchObject({ message: 'Validation Error', detail: [{ loc: ['body', expect.any(String)] }] });
  }
  expect((await telemetry(standIn, serial, 'cpu_utilization', { period: 'PT15M', bin_size: null })).status).toBe(200);
  const single = { period: 'PT30M', bin_size: 60 };
  expect((await telemetry(standIn, serial, 'current_appliance_performance', single)).status).toBe(422);
});

test('load averages come in each spelling', async () => {
  const { standIn } = await start();
  const serial = serialOf(standIn, 'edge-lyon');
  const spellings: [LoadNames, string[]][] = [
    ['longterm', ['shortterm', 'midterm', 'longterm']],
    [
      'fifteen_minute_load_average',
      ['one_minute_load_average', 'five_minute_load_average', 'fifteen_minute_load_average'],
    ],
    ['15', ['1', '5', '15']],
    ['15min', ['1min', '5min', '15min']],
  ];
  for (const [loadNames, fields] of spellings) {
    standIn.vary({ loadNames });
    const [record] = items(await telemetry(standIn, serial, 'load_average'));
    expect(new Set(Object.keys(record ?? {}))).toEqual(new Set(['time', ...fields]));
  }
});

test('decimals can be numbers, values null, the newest bin null, and fields absent', async () => {
  const { standIn } = await start({ variations: { decimals: 'number' } });
  const serial = serialOf(standIn, 'edge-lyon');
  const usage = async () =>
    items(await telemetry(standIn, serial, 'cpu_utilization', { period: 'PT2H', bin_size: 60 })).map(
      (record) => record.cpu_usage,
    );
  expect(new Set((await usage()).map((value) => typeof value))).toEqual(new Set(['number']));
  standIn.vary({ newestNull: true });
  const values = await usage();
  expect(values.at(-1)).toBeNull();
  expect(values.slice(0, -1)).not.toContain(null);
  standIn.vary({ newestNull: false, nulls: 0.5 });
  const nulls = (await usage()).filter((value) => value === null).length;
  expect(nulls).toBeGreaterThan(30);
  expect(nulls).toBeLessThan(90);
  standIn.vary({ omitOptional: true });
  expect((await usage()).filter((value) => value === undefined)).toHaveLength(nulls);
  standIn.vary({ omitOptional: false, nulls: 1 });
  const memory = items(await telemetry(standIn, serial, 'memory_utilization_details'));
  expect(memory.every((record) => typeof record.utilization === 'number')).toBe(true);
  const load = (await telemetry(standIn, serial, 'load_average')).json;
  expect(load).toMatchObject({ num_cores: null });
});

test('items can come in no order', async () => {
  const { standIn } = await start();
  const serial = serialOf(standIn, 'edge-lyon');
  const inOrder = items(await telemetry(standIn, serial, 'cpu_utilization'));
  standIn.vary({ shuffled: true });
  const shuffled = items(await telemetry(standIn, serial, 'cpu_utilization'));
  expect(shuffled).not.toEqual(inOrder);
  expect([...shuffled].sort((one, other) => Number(one.time) - Number(other.time))).toEqual(inOrder);
});

test('a disk that is not there is empty, 404 or null', async () => {
  const { standIn } = await start();
  const serial = serialOf(standIn, 'edge-osaka');
  const ask = () => telemetry(standIn, serial, 'cow_disk_iops');
  expect(items(await ask())).toEqual([]);
  standIn.vary({ absentDisks: '404' });
  expect((await ask()).status).toBe(404);
  standIn.vary({ absentDisks: 'null' });
  const records = items(await ask());
  expect(records.length).toBeGreaterThan(0);
  expect(records.every((record) => record.cow_disk_io_reads === null)).toBe(true);
});

test('the memory series that does not fit the build is empty, 404 or 422', async () => {
  const { standIn } = await start();
  const [old, recent] = [serialOf(standIn, 'edge-osaka'), serialOf(standIn, 'edge-denver')];
  expect(items(await telemetry(standIn, old, 'memory_utilization')).length).toBeGreaterThan(0);
  expect(items(await telemetry(standIn, old, 'memory_utilization_details'))).toEqual([]);
  expect(items(await telemetry(standIn, recent, 'memory_utilization'))).toEqual([]);
  for (const memoryMismatch of ['404', '422'] as const) {
    standIn.vary({ memoryMismatch });
    expect((await telemetry(standIn, recent, 'memory_utilization')).status).toBe(Number(memoryMismatch));
  }
});
