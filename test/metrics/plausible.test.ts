import { describe, expect, test } from 'vitest';
import type { Family } from '../../src/metrics/family.ts';
import { toSamples } from '../../src/metrics/samples.ts';
import { date, epochMilliseconds, kibibytes, latencyMilliseconds, percent } from '../../src/metrics/units.ts';
import { Dialect } from '../../src/sources/portal/appliances/dialect.ts';
import { Lines } from '../polling/fleet.ts';

const ratio = { name: 'filer_x_ratio', help: 'x', from: percent, fields: { used: {} } } as const satisfies Family;

/** The values of a family for some records, newest first, and what was noted. */
function taken(family: Family, ...newestFirst: readonly object[]) {
  const drops: string[] = [];
  const samples = toSamples([family], newestFirst as never, {}, (reason, place) => drops.push(`${reason} ${place}`));
  return { values: samples.map(({ value }) => value), drops };
}

describe('a number that cannot be true', () => {
  test('gives no sample, and the newest one that can be is taken', () => {
    expect(taken(ratio, { used: '4200' })).toEqual({ values: [], drops: ['implausible used'] });
    expect(taken(ratio, { used: '4200' }, { used: '42' })).toEqual({ values: [0.42], drops: [] });
  });

  test('is a share above the whole or below nothing, but not one that rounding put a little above', () => {
    expect(
      [percent, percent, percent].map(({ isPlausible }, index) => isPlausible?.([1.004, 1.2, -0.1][index] ?? 0)),
    ).toEqual([true, false, false]);
  });

  test('is a disk operation of an hour, and a moment of the last century', () => {
    expect([latencyMilliseconds.isPlausible?.(0.004), latencyMilliseconds.isPlausible?.(3600)]).toEqual([true, false]);
    expect([date, epochMilliseconds].map(({ isPlausible }) => isPlausible?.(0))).toEqual([false, false]);
    expect(epochMilliseconds.isPlausible?.(1_772_445_300)).toBe(true);
  });
});

describe('the units of the account that is polled', () => {
  const record = (utilization: string) => ({
    time: 1_772_445_300_000,
    total: '32000000',
    available: '20000000',
    utilization,
  });

  test('implausible values of a field are logged once, and stand on the status page', () => {
    const lines = new Lines();
    const dialect = new Dialect(lines);
    const note = dialect.watched('cpu_utilization', () => {});
    note('implausible', 'cpu_usage');
    note('implausible', 'cpu_usage');
    note('absent', 'cpu_usage');
    expect(lines.take()).toEqual(['warn implausible value dropped']);
    expect(dialect.notes).toEqual([expect.stringContaining('cpu_utilization cpu_usage')]);
  });

  test('another unit is logged and noted; while it is disputed its families are withheld and counted', () => {
    const lines = new Lines();
    const dialect = new Dialect(lines);
    const drops: string[] = [];
    const read = (utilization: string) =>
      dialect.read('memory_utilization_details', [ratio, memory], [record(utilization)], (reason, place) =>
        drops.push(`${reason} ${place}`),
      ).families;
    expect(read('0.375')).toHaveLength(2);
    expect(lines.take()).toHaveLength(1);
    expect(dialect.notes[0]).toContain('ratio');
    expect(read('37.5').map(({ name }) => name)).toEqual(['filer_x_bytes']);
    expect(drops).toEqual(['implausible filer_x_ratio']);
  });
});

const memory = { name: 'filer_x_bytes', help: 'x', from: kibibytes, fields: { total: {} } } as const satisfies Family;
