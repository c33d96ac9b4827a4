import { expect, test } from 'vitest';
import * as units from '../../../src/metrics/units.ts';
import fc from '../../harness/fast-check.ts';

const { parseDateSeconds, parseDecimal, ...conversions } = units;

test.each([
  ['12.5', 12.5],
  ['+3', 3],
  ['.5', 0.5],
  ['5.', 5],
  ['1e3', 1000],
  ['123456789012345678901234567890', 1.2345678901234568e29],
  [0, 0],
  [Number.MAX_VALUE, Number.MAX_VALUE],
])('%j is the number %d', (raw, value) => {
  expect(parseDecimal(raw)).toBe(value);
});

test.each([
  ...['', ' 1', '1\n', '1,5', '1.2.3', '0x10', '1e', 'e5', '.', '-', '٣', '12.5 %'],
  ...['NaN', 'Infinity', '-1e400', '9'.repeat(400), Number.NaN, Number.POSITIVE_INFINITY, true, null],
  ...[[[1]], { valueOf: () => 1 }],
])('%j is no number', (raw) => {
  expect(parseDecimal(raw)).toBeUndefined();
});

test('whatever JSON holds, a value is a finite number or there is none', () => {
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.string()), (raw) => {
      const reads = Object.values(conversions).flatMap((each) => ('read' in each ? each.read : []));
      const values = [parseDecimal, parseDateSeconds, ...reads].map((read) => read(raw));
      expect(values.every((value) => value === undefined || Number.isFinite(value))).toBe(true);
    }),
  );
});

test.each([
  ['2026-03-02t09:55:00z', 1772445300],
  ['2026-03-02T09:55:00', 1772445300],
  ['2026-03-02T09:55:00.25Z', 1772445300.25],
  ['2026-03-02T09:55:00.123456789Z', 1772445300.1234567],
  ['2026-03-02T15:25:00+05:30', 1772445300],
  ['2026-03-01T23:55:00-10:00', 1772445300],
  ['2024-02-29T00:00:00Z', 1709164800],
  ['2026-01-31T23:59:59Z', 1769903999],
  ['2016-12-31T23:59:60Z', 1483228800],
  ['2017-01-01T00:59:60+01:00', 1483228800],
])('%s is the Unix second %d', (raw, value) => {
  expect(parseDateSeconds(raw)).toBe(value);
});

test.each([
  ...['', '1772445300', '2026-03-02', '2026-03-02T09:55Z', '2026-03-02T09:55:00.Z', '2026-03-02T09:55:00+0100'],
  ...['2025-02-29T00:00:00Z', '2026-13-01T00:00:00Z', '2026-00-01T00:00:00Z'],
  ...['2026-01-01T24:00:00Z', '2026-01-01T00:60:00Z'],
  ...['2026-01-01T00:00:61Z', '2026-01-01T00:00:00+24:00', ' 2026-01-01T00:00:00Z', 'Mon, 02 Mar 2026 10:00:30 GMT'],
  ...[1772445300, null, new Date(0)],
])('%j is no date', (raw) => {
  expect(parseDateSeconds(raw)).toBeUndefined();
});

test.each([
  ['unitless', '3', 3],
  ['seconds', '-3', -3],
  ['nonNegativeSeconds', '3', 3],
  ['milliseconds', '1250', 1.25],
  ['kibibytes', '1.5', 1536],
  ['bytesPerSecond', 1048576, 1048576],
  ['percent', '57', 0.57],
  ['percent', '7.73', 0.0773],
  ['percent', '1e-7', 1e-9],
  ['percent', '-3', -0.03],
  ['epochMilliseconds', 1772445300, 1772445300],
  ['epochMilliseconds', 1772445300500, 1772445300.5],
  ['anyTime', '2026-03-02T09:55:00Z', 1772445300],
  ['anyTime', '1772445300', 1772445300],
  ['anyTime', 1772445300000, 1772445300],
  ['date', '2001-01-01T00:00:00Z', 978307200],
  ['listLength', ['a', null], 2],
  ['infoOne', 'anything', 1],
  ['state', 'ACQUIRED', 1],
  ['enumValue', 'a', 1],
  ['booleanValue', 'true', 1],
  ['booleanValue', false, 0],
  ['booleanValue', 'false', 0],
  ['isNull', null, 1],
  ['isNull', 'x', 0],
] as const)('%s reads %j as %d', (name, raw, value) => {
  expect(conversions[name].read(raw)).toBe(value);
});

test.each([
  ['nonNegativeSeconds', '-1'],
  ['kibibytes', '1e308'],
  ['date', '2000-12-31T23:59:59Z'],
  ['anyTime', 'yesterday'],
  ['epochMilliseconds', 0],
  ['listLength', 'abc'],
  ['enumValue', ' - '],
  ['booleanValue', 1],
] as const)('%s reads no value from %j', (name, raw) => {
  expect(conversions[name].read(raw)).toBeUndefined();
});
