import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/metrics/family.ts';
import { toSamples } from '../../../../src/metrics/samples.ts';
import { SchemaError } from '../../../../src/runtime/errors.ts';
import {
  ADDITIONAL_SERIES,
  ECONOMY_REPLACES,
  type Operation,
  operationsFor,
  STANDARD_SERIES,
} from '../../../../src/services/portal/appliances/series-operations.ts';
import { newestFirst } from '../../../../src/services/portal/records.ts';
import { valuesOf } from '../../../support/exposition-lines.ts';

const ALL = [...STANDARD_SERIES, ...ADDITIONAL_SERIES];

function operation(name: string, chosen: readonly string[] = [name]): Operation {
  const found = operationsFor(chosen).get(name);
  if (found === undefined) throw new Error(`no operation ${name}`);
  return found;
}

function read(name: string, body: unknown, chosen?: readonly string[]) {
  const notes: string[] = [];
  const note = (reason: string, place: string) => void notes.push(`${reason} ${place}`);
  const { families, records } = operation(name, chosen);
  return { values: valuesOf(toSamples(families, records(body, note), {}, note)), notes };
}

/** A moment in March 2026. */
const START = 1_772_445_300_000;

describe('the choice of series', () => {
  test('is fifteen in the published order, and further ones', () => {
    expect(STANDARD_SERIES).toHaveLength(15);
    expect([...operationsFor(ALL).keys()]).toEqual(ALL);
  });

  test('gives no family to a series and to current_appliance_performance at once', () => {
    const own = (chosen: readonly string[]) =>
      operation('current_appliance_performance', chosen).families.map(({ name }) => name);
    const [uptime, cpu, load, cores] = own(['current_appliance_performance']);
    expect(own(ALL)).toEqual(['filer_appliance_uptime_seconds']);
    expect(own(['current_appliance_performance', 'cpu_utilization'])).toEqual([uptime, load, cores]);
    expect(own(['current_appliance_performance', 'load_average'])).toEqual([uptime, cpu]);
  });
});

describe('the choice of series with the economy mode', () => {
  const names = (chosen: readonly string[]) => {
    const given = [...operationsFor(chosen, true)].flatMap(([series, { families }]) =>
      families.map(({ name }) => [name, series] as const),
    );
    return new Map(given.map(([name]) => [name, given.filter(([one]) => one === name).map(([, series]) => series)]));
  };

  test('gives CPU and cores to current_appliance_performance alone, and asks for no series that has nothing left', () => {
    const writers = names(['current_appliance_performance', ...STANDARD_SERIES]);
    expect(writers.get('filer_appliance_cpu_utilization_ratio')).toEqual(['current_appliance_performance']);
    expect(writers.get('filer_appliance_cpu_cores')).toEqual(['current_appliance_performance']);
    expect(writers.get('filer_appliance_load_average')).toEqual(['current_appliance_performance', 'load_average']);
    const given = new Set(operation('current_appliance_performance').families.map(({ name }) => name));
    const others = ALL.filter((series) => series !== 'current_appliance_performance');
    const nothingNew = others.filter((series) => operation(series).families.every(({ name }) => given.has(name)));
    // The load over one and five minutes is only in load_average.
    expect(nothingNew).toEqual(['load_average', ...ECONOMY_REPLACES]);
    expect(operationsFor(ECONOMY_REPLACES, true).size).toBe(0);
  });

  test('leaves the load over one and five minutes to load_average', () => {
    const load = operationsFor(['current_appliance_performance', 'load_average'], true).get('load_average');
    const items = [{ time: START, shortterm: 1, midterm: 2, longterm: 3 }];
    const records = load?.records({ items, num_cores: 4 }, () => {}) ?? [];
    expect(valuesOf(toSamples(load?.families ?? [], records, {}, () => {}))).toEqual({
      'filer_appliance_load_average{window="1m"}': 1,
      'filer_appliance_load_average{window="5m"}': 2,
    });
  });
});

test('a request for the two that are one object says a period of their own and no bin', () => {
  expect(operation('current_appliance_performance').body('PT15M', 60)).toEqual({ period: 'PT30M' });
  expect(operation('appliance_health_score').body('PT15M', 60)).toEqual({ period: 'PT1H' });
});

describe('a health score', () => {
  const info = (status: string) => ({ [`filer_appliance_health_info{status="${status}"}`]: 1 });
  test.each([
    ['87', 'Healthy', { filer_appliance_health_score: 87, ...info('healthy') }],
    ['0', null, { filer_appliance_health_score: 0 }],
    ['Good', 'Healthy', info('healthy')],
    ['NaN', undefined, info('nan')],
    [null, null, {}],
  ])('of %j with the status %j is the number, the word, or both', (health_score, health_status, values) => {
    expect(read('appliance_health_score', { health_score, description: { health_status } })).toEqual({
      values,
      notes: [],
    });
  });

  test.each([
    ['its points', { data: [{ time: START }, { time: `${START + 9}` }, { time: null }, 'x'] }, `${START + 9}`],
    ['no points', { data: [] }, undefined],
    ['no data', null, undefined],
  ])('is of the newest time of %s', (_, raw_data, time) => {
    const [record] = operation('appliance_health_score').records({ health_score: '1', raw_data }, () => {});
    expect(record?.time).toBe(time);
  });
});

describe('an answer', () => {
  test.each([undefined, 'maintenance', []])('of any operation cannot be %j', (body) => {
    for (const name of ALL) expect(() => read(name, body)).toThrow(SchemaError);
  });

  test.each([[{}], [{ items: null }], [{ items: {} }]])('of a series cannot be %j', (body) => {
    for (const name of ALL.slice(0, 20)) expect(() => read(name, body)).toThrow(SchemaError);
  });

  test('has its records in order of time, whatever the order of items', () => {
    const items = [3, 1, 2].map((order) => ({ time: START + order, order }));
    expect(newestFirst({ items }, () => {}).map(({ order }) => order)).toEqual([3, 2, 1]);
  });

  test('is checked without a look at its records', () => {
    const record = {
      get time(): number {
        throw new Error('a record was looked at');
      },
    };
    for (const name of ALL) expect(() => operation(name).check({ items: [record] })).not.toThrow();
    for (const name of ALL.slice(0, 20)) expect(() => operation(name).check({ items: {} })).toThrow(SchemaError);
    for (const name of ALL) expect(() => operation(name).check([])).toThrow(SchemaError);
  });

  test('of more than a week by the minute is too large, so that its period is requested in halves', () => {
    const check = (length: number) => operation('load_average').check({ items: Array.from({ length }, () => ({})) });
    expect(() => check(10_000)).not.toThrow();
    expect(() => check(10_001)).toThrow(expect.objectContaining({ code: 'oversize' }));
  });

  test('with several records of one time uses the last of them, and counts the others', () => {
    const notes: string[] = [];
    const items = [1, 2, 3, 4].map((order) => ({ time: order === 4 ? START + 1 : START, order }));
    const records = newestFirst({ items }, (reason, place) => notes.push(`${reason} ${place}`));
    expect(records.map(({ order }) => order)).toEqual([4, 3]);
    expect(notes).toEqual(['duplicate items[1].time', 'duplicate items[2].time']);
  });

  test('has those without a readable time left out and counted', () => {
    const notes: string[] = [];
    const items = [{ time: START }, { cpu_usage: 5 }, { time: 'now' }, null, 0, { time: `${START + 1}` }];
    const records = newestFirst({ items }, (reason, place) => notes.push(`${reason} ${place}`));
    expect(records.map(({ time }) => time)).toEqual([`${START + 1}`, START]);
    expect(notes).toEqual([1, 2, 3, 4].map((index) => `record items[${index}].time`));
  });

  test('without items is empty, whatever is beside them, but for the number of cores', () => {
    const nothing: JsonObject = { items: [], metadata: {}, num_cores: null, page_size: 15, time: 1 };
    expect(newestFirst(nothing, () => {})).toEqual([]);
    expect(read('load_average', { ...nothing, num_cores: 4 })).toEqual({
      values: { filer_appliance_cpu_cores: 4 },
      notes: [],
    });
  });
});
