import { expect, test } from 'vitest';
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

type Row = [string, JsonObject[], Record<string, number>, string[]];

test.each<Row>([
  ['is zero is a sample', [{ user: 0, system: '0' }], { user: 0, system: 0 }, []],
  ['nobody holds is no drop', [{ user: null }, { user: null, other: 1 }], {}, []],
  ['no record could hold is no drop', [], {}, []],
  ['cannot be read is invalid', [{ user: 'NaN', system: 5 }, { user: true }], { system: 0.05 }, ['invalid user']],
  ['is invalid in the newest record takes the value before', [{ user: {} }, { user: '7' }], { user: 0.07 }, []],
])('a field that %s', (_, records, expected, drops) => {
  const { values, notes } = read([cpu], ...records);
  const samples = Object.entries(expected).map(([mode, value]) => [`filer_test_cpu_ratio{mode="${mode}"}`, value]);
  expect([values, notes]).toEqual([Object.fromEntries(samples), drops]);
});

test('a field named like a member of every object is not found where nobody sent it', () => {
  const odd = { ...cpu, fields: { constructor: {}, toString: {} } } as const;
  expect(read([odd], {}).values).toEqual({});
});

test('labels that are fields come from the record of the value, empty where it has none', () => {
  const info = {
    ...cpu,
    name: 'filer_test_info',
    from: infoOne,
    fields: { id: {} },
    fieldLabels: { build: 'build' },
  } as const;
  const { values } = read([info], { id: null, build: 'new' }, { id: 'x', build: 'old' });
  expect(values).toEqual({ 'filer_test_info{build="old"}': 1 });
  expect(read([info], { id: 'x' }).values).toEqual({ 'filer_test_info{build=""}': 1 });
});

test.each([
  ['text', 'text'],
  ['', ''],
  [false, 'false'],
  [null, ''],
  [{ a: 1 }, ''],
])('labels write %j as %j', (raw, label) => {
  expect(labelValue(raw)).toBe(label);
});

test.each([
  ['15m', ['longterm', '15', '15min', 'load15', 'Fifteen', 'LONGTERM', 'load_15m_avg']],
  ['5m', ['midterm', '5', '5min', 'load5', 'Five']],
  ['1m', ['shortterm', '1', '1min', 'load1', 'One']],
  ['load', ['load']],
  ['__proto__', ['__proto__']],
])('load windows of %s are known by %j', (window, names) => {
  for (const name of names) expect(loadWindow(name)).toBe(window);
});

test('load windows take every number but the time, each its newest, and no text', () => {
  const newest = '{ "time": 3, "longterm": null, "queue": 2, "host": "edge", "up": true, "__proto__": 5 }';
  const before = { time: 2, longterm: '0.5', midterm: '0.25', constructor: '6' };
  expect(read(standardSeries.load_average, JSON.parse(newest), before, { num_cores: 2 }).values).toEqual({
    'filer_appliance_load_average{window="15m"}': 0.5,
    'filer_appliance_load_average{window="queue"}': 2,
    'filer_appliance_load_average{window="__proto__"}': 5,
    'filer_appliance_load_average{window="5m"}': 0.25,
    'filer_appliance_load_average{window="constructor"}': 6,
    filer_appliance_cpu_cores: 2,
  });
});

test('load windows are fifty at most, however many fields a record has, and the others are counted', () => {
  const record = Object.fromEntries(Array.from({ length: 200 }, (_, index) => ['i'.repeat(index), index]));
  const { values, notes } = read(standardSeries.load_average, { time: 1, ...record });
  expect([Object.keys(values).length, notes.length, notes[0]]).toEqual([50, 150, `full ${'i'.repeat(50)}`]);
});

test('a record holds a value when any row finds one in it', () => {
  const rows = [cpu, { ...cpu, name: 'filer_test_other', from: unitless, fields: { other: {} } }] as const;
  expect(hasValue(rows, { other: '1' })).toBe(true);
  expect(hasValue(rows, { user: null, system: 'NaN', third: 1 })).toBe(false);
});
