import { describe, expect, test } from 'vitest';
import type { Fields } from '../../../../src/metrics/family.ts';
import {
  epochMilliseconds,
  kibibytes,
  latencyMilliseconds,
  milliseconds,
  percent,
} from '../../../../src/metrics/units.ts';
import { createLog } from '../../../../src/runtime/log.ts';
import { Dialect } from '../../../../src/sources/portal/appliances/dialect.ts';
import { noLog } from '../../../support/mock-api.ts';

/** What one answer shows, by question. */
function evidenceIn(operation: string, records: readonly Fields[]) {
  const dialect = new Dialect(noLog);
  dialect.learn(operation, records);
  return Object.fromEntries(dialect.variants.map(({ question, answer }) => [question, answer]));
}

const memory = (utilization: string, unit = 1) => ({
  time: 1_772_445_300_000,
  total: String(32_000_000 * unit),
  available: String(20_000_000 * unit),
  utilization,
});

describe('what an answer shows of the units that the documentation leaves open', () => {
  test('utilization is compared with the parts of its own record', () => {
    expect(evidenceIn('memory_utilization_details', [memory('37.5')])).toMatchObject({ ratio_unit: 'percent' });
    expect(evidenceIn('memory_utilization_details', [memory('0.375')])).toMatchObject({ ratio_unit: 'ratio' });
    expect(evidenceIn('memory_utilization_details', [memory('1200')])).not.toHaveProperty('ratio_unit');
  });

  test('memory of terabytes in kilobytes is memory of gigabytes in bytes', () => {
    expect(evidenceIn('memory_utilization_details', [memory('37.5')])).toMatchObject({ memory_unit: 'kilobytes' });
    expect(evidenceIn('memory_utilization_details', [memory('37.5', 1024)])).toMatchObject({ memory_unit: 'bytes' });
    const old = { memory_used: '2000000', memory_cached: '1000000', memory_buffered: null };
    expect(evidenceIn('memory_utilization', [old])).toMatchObject({ memory_unit: 'kilobytes' });
  });

  test('times of this century are milliseconds or seconds', () => {
    expect(evidenceIn('cpu_utilization', [{ time: 1_772_445_300_000 }])).toEqual({ time_unit: 'milliseconds' });
    expect(evidenceIn('cpu_utilization', [{ time: 1_772_445_300 }])).toEqual({ time_unit: 'seconds' });
    expect(evidenceIn('cpu_utilization', [{ time: 0 }])).toEqual({});
  });

  test('the median of latencies tells seconds from milliseconds, and a handful tells nothing', () => {
    const records = (latency: string) =>
      Array.from({ length: 10 }, () => ({ read_latency: latency, write_latency: null }));
    expect(evidenceIn('cache_disk_io_latency', records('4.2'))).toEqual({ latency_unit: 'milliseconds' });
    expect(evidenceIn('cache_disk_io_latency', records('0.0042'))).toEqual({ latency_unit: 'seconds' });
    expect(evidenceIn('cache_disk_io_latency', records('0.0042').slice(0, 3))).toEqual({});
  });

  test('an idle processor is no evidence of ratios', () => {
    const idle = Array.from({ length: 15 }, () => ({ cpu_usage: '0.4' }));
    expect(evidenceIn('cpu_utilization', idle)).toEqual({});
  });
});

describe('the units of an account', () => {
  test('documented units are taken as they are', () => {
    const dialect = new Dialect(noLog);
    expect([percent, kibibytes, epochMilliseconds, latencyMilliseconds].map(dialect.scaleOf)).toEqual([1, 1, 1, 1]);
  });

  test('other units are scaled to the documented ones', () => {
    const dialect = new Dialect(noLog);
    dialect.learn('memory_utilization_details', [{ ...memory('0.375', 1024), time: 1_772_445_300 }]);
    expect([percent, kibibytes, epochMilliseconds].map(dialect.scaleOf)).toEqual([100, 1 / 1024, 1000]);
    expect(dialect.scaleOf(milliseconds)).toBe(1);
  });

  test('one odd record changes nothing, three in a row do, and each change is told once', () => {
    const told: string[] = [];
    const dialect = new Dialect(createLog('info', { write: (line) => told.push(line) }));
    const learn = (utilization: string) =>
      dialect.learn('memory_utilization_details', [{ ...memory(utilization), time: null }]);
    learn('37.5');
    expect(dialect.variants).toEqual([
      { question: 'ratio_unit', answer: 'percent' },
      { question: 'memory_unit', answer: 'kilobytes' },
    ]);
    learn('0.375');
    learn('0.375');
    learn('37.5');
    learn('0.375');
    expect(dialect.scaleOf(percent)).toBe(1);
    learn('0.375');
    expect(told).toEqual([]);
    for (let again = 0; again < 3; again += 1) learn('0.375');
    expect(told).toEqual([expect.stringContaining('"question":"ratio_unit","answer":"ratio"')]);
    expect(dialect.scaleOf(percent)).toBe(100);
  });
});
