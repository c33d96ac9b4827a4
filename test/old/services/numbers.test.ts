import { describe, expect, test } from 'vitest';
import { type Family, isEveryOtherField, type JsonObject } from '../../src/metrics/family.ts';
import { toSamples } from '../../src/metrics/samples.ts';
import { type Conversion, durationMilliseconds, nonNegativeSeconds } from '../../src/metrics/units.ts';
import { services } from '../../src/services/services.ts';

/** A moment in March 2026, in Unix seconds. */
const MOMENT = 1_772_445_300;

const factors: Readonly<Record<string, number>> = {
  number: 1,
  'number in the bin': 1,
  seconds: 1,
  bytes: 1,
  'bytes per second': 1,
  milliseconds: 1 / 1000,
  percent: 1 / 100,
  KiB: 1024,
};

/** What a cell shows: the value in the base unit; undefined for no sample and one drop. */
function shown(upstream: string, sent: unknown): number | undefined {
  if (sent === undefined || sent === null || sent === 'high') return undefined;
  const value = Number(sent);
  if (upstream === 'RFC 3339 date') return undefined;
  if (upstream.startsWith('seconds before')) return MOMENT - value;
  if (!/epoch|date/.test(upstream)) return value * (factors[upstream] ?? Number.NaN);
  if (value / 1000 >= 978_307_200) return value / 1000;
  return value >= 978_307_200 ? value : undefined;
}

const cells = {
  documented: '12.5',
  zero: 0,
  tiny: '0.000001',
  huge: 1e15,
  negative: -3,
  'in seconds': MOMENT,
  'in milliseconds': MOMENT * 1000,
  text: 'high',
  null: null,
  missing: undefined,
} as const;

const NOT_NUMBERS = ['text', 'boolean', 'list', 'records'];

const rows = services.flatMap(({ section, tables }) =>
  tables.flatMap(({ source, families }) =>
    families
      .filter(({ from }) => !NOT_NUMBERS.includes(from.upstream))
      .flatMap((family) => {
        const fields = isEveryOtherField(family.fields) ? ['longterm'] : Object.keys(family.fields);
        return fields.map((field) => [`${section.api} ${source}`, field, family] as const);
      }),
  ),
);

/** Holds the rule "As documented" of docs/architecture.md. */
describe('a number of a service is shown as it was sent, in the documented unit, or is absent and counted', () => {
  test('in every numeric field of both services', () => {
    expect(rows.length).toBeGreaterThan(80);
    expect(new Set(rows.map(([place]) => place.split(' ')[0]))).toEqual(new Set(['gfa', 'portal']));
  });

  test.each(rows)('%s: %s', (_, field, family) => {
    const { upstream } = family.from;
    // A negative duration is a fault of clocks, and would make the sum of a histogram decrease.
    const isNegative = (cell: string) => cell === 'negative' && DURATIONS.includes(family.from);
    for (const [cell, sent] of Object.entries(cells)) {
      const own: JsonObject = { timestamp: '2026-03-02T09:55:00Z', [field]: sent };
      const drops: string[] = [];
      const samples = toSamples(
        [
          {
            ...family,
            ...(isEveryOtherField(family.fields) ? {} : { fields: { [field]: {} } }),
            optional: false,
          } as Family,
        ],
        [own],
        {},
        (reason) => drops.push(reason),
      );
      const expected = isNegative(cell) ? undefined : shown(upstream, sent);
      const isOpen = isEveryOtherField(family.fields) && expected === undefined && sent !== null;
      expect([cell, samples.length, drops.length]).toEqual([
        cell,
        expected === undefined ? 0 : 1,
        expected === undefined && !isOpen ? 1 : 0,
      ]);
      if (expected !== undefined)
        expect(samples[0]?.value).toBeCloseTo(expected, 9 - Math.log10(Math.abs(expected) + 1));
    }
  });
});

const DURATIONS: readonly Conversion[] = [nonNegativeSeconds, durationMilliseconds];
