import { describe, expect, test } from 'vitest';
import type { Family, JsonObject } from '../../../src/metrics/family.ts';
import { hasValue, labelValue, toSamples } from '../../../src/metrics/samples.ts';
import { infoOne, percent, unitless } from '../../../src/metrics/units.ts';
import { loadWindow, standardSeries } from '../../../src/services/portal/appliances/series-families.ts';
import { valuesOf } from '../../harness/sample-values.ts';

const cpu = {
  name: 'filer_test_cpu_ratio',
  help: 'Test.',
  from: percent,
  fields: { user: { mode: 'user' }, system: { mode: 'system' } },
} as const satisfies Family;

function read(families: readonly Family[], ...newestFirst: readonly JsonObject[]) {
  const notes: string[] = [];
  const samples = toSamples(families, newestFirst, {}, (reason, place) => notes.push(`${reason} ${place}`));
  return { values: valuesOf(samples), notes };
}

describe('a field', () => {
  test('that is zero is a sample', () => {
    expect(read([cpu], { user: 0, system: '0' }).values).toEqual({
      'filer_test_cpu_ratio{mode="user"}': 0,
      'filer_test_cpu_ratio{mode="system"}': 0,
    });
  });

  test.each([[[{ user: null }, { user: null, other: 1 }]], [[]]])('that nobody holds is no drop: %j', (records) => {
    expect(read([cpu], ...records)).toEqual({ values: {}, notes: [] });
  });

  test.each(['NaN', true, {}])('that reads %j is counted as invalid and gives no sample', (user) => {
    expect(read([cpu], { user, system: 5 })).toEqual({
      values: { 'filer_test_cpu_ratio{mode="system"}': 0.05 },
      notes: ['invalid user'],
    });
  });

  test('that cannot be read in the newest record takes the value before', () => {
    expect(read([cpu], { user: 'NaN', system: 1 }, { user: '7' })).toEqual({
      values: { 'filer_test_cpu_ratio{mode="user"}': 0.07, 'filer_test_cpu_ratio{mode="system"}': 0.01 },
      notes: [],
    });
  });

  test('named like a member of every object is not found where nobody sent it', () => {
    const odd = { ...cpu, fields: { constructor: {}, toString: {} } } as const;
    expect(read([odd], {}).values).toEqual({});
  });
});

describe('labels', () => {
  const info = {
    name: 'filer_test_info',
    help: 'Test.',
    from: infoOne,
    fields: { id: {} },
    fieldLabels: { build: 'build' },
  } as const satisfies Family;

  test('that are fields come from the record of the value, empty where it has none', () => {
    expect(read([info], { id: null, build: 'new' }, { id: 'x', build: 'old' }).values).toEqual({
      'filer_test_info{build="old"}': 1,
    });
    expect(read([info], { id: 'x' }).values).toEqual({ 'filer_test_info{build=""}': 1 });
  });

  test.each([
    ['text', 'text'],
    ['', ''],
    [false, 'false'],
    [null, ''],
    [{ a: 1 }, ''],
  ])('write %j as %j', (raw, label) => {
    expect(labelValue(raw)).toBe(label);
  });
});

describe('load windows', () => {
  test.each([
    ['15m', ['longterm', '15', '15min', 'load15', 'Fifteen', 'LONGTERM', 'load_15m_avg']],
    ['5m', ['midterm', '5', '5min', 'load5', 'Five']],
    ['1m', ['shortterm', '1', '1min', 'load1', 'One']],
  ])('of %s are known by %j', (window, names) => {
    for (const name of names) expect(loadWindow(name)).toBe(window);
  });

  test.each(['load', 'runqueue', '', '__proto__'])('named %j stand for themselves', (name) => {
    expect(loadWindow(name)).toBe(name);
  });

  test('take every number but the time, each its newest, and no text', () => {
    const records = [
      { time: 3, longterm: null, queue: 2, host: 'edge', up: true },
      { time: 2, longterm: '0.5', midterm: '0.25' },
    ];
    expect(read(standardSeries.load_average, ...records, { num_cores: 2 }).values).toEqual({
      'filer_appliance_load_average{window="15m"}': 0.5,
      'filer_appliance_load_average{window="queue"}': 2,
      'filer_appliance_load_average{window="5m"}': 0.25,
      filer_appliance_cpu_cores: 2,
    });
  });

  test('are fifty at most, however many fields a record has, and the others are counted', () => {
    const record = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field ${index}`, index]));
    const left: string[] = [];
    const samples = toSamples(standardSeries.load_average, [{ time: 1, ...record }], {}, (reason, field) => {
      if (reason === 'full') left.push(field);
    });
    expect([samples.length, left.length, left[0]]).toEqual([50, 4_950, 'field 50']);
  });

  test('stand for the keys __proto__ and constructor of a record as for others', () => {
    const record = JSON.parse('{"time": 1, "__proto__": 5, "constructor": "6", "longterm": "0.5"}') as JsonObject;
    const samples = toSamples(standardSeries.load_average, [record], {});
    const values = new Map(samples.map(({ labels, value }) => [labels.window, value]));
    expect(values).toEqual(
      new Map([
        ['15m', 0.5],
        ['__proto__', 5],
        ['constructor', 6],
      ]),
    );
  });
});

test('a record holds a value when any row finds one in it', () => {
  const rows = [cpu, { ...cpu, name: 'filer_test_other', from: unitless, fields: { other: {} } }] as const;
  expect(hasValue(rows, { other: '1' })).toBe(true);
  expect(hasValue(rows, { user: null, system: 'NaN', third: 1 })).toBe(false);
});
