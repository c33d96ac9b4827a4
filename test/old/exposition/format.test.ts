import { Gauge, Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { escapeLabelValue, formatLabels, formatValue, headerLines } from '../../src/exposition/format.ts';
import { LineStore } from '../../src/exposition/store.ts';
import { formatBound } from '../../src/metrics/histogram.ts';
import { MAX_LABEL } from '../../src/metrics/label-value.ts';
import type { Sample } from '../../src/metrics/samples.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import fc from '../support/fast-check.ts';
import { textOf } from '../support/store-text.ts';

describe('a number', () => {
  test.each([
    [0, '0'],
    [-0, '-0'],
    [1e21, '1e+21'],
    [123456789012345680000, '123456789012345680000'],
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, '+Inf'],
    [Number.NEGATIVE_INFINITY, '-Inf'],
  ])('%d is written %s', (value, text) => {
    expect(formatValue(value)).toBe(text);
  });

  test('of any size reads back as the same double, and no shorter text does', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const text = formatValue(value);
        expect(Number(text)).toBe(value);
        const digits = text.replace(/e.*$/, '').replaceAll(/[-.]/g, '').replace(/^0+/, '').replace(/0+$/, '').length;
        if (digits > 1) expect(Number(value.toExponential(digits - 2))).not.toBe(value);
      }),
      { numRuns: 1_000 },
    );
  });

  test.each([
    [10, '10.0'],
    [0.5, '0.5'],
    [1e21, '1e+21'],
  ])('%d as a bound is written %s in both formats', (bound, text) => {
    expect(formatBound(bound)).toBe(text);
  });
});

describe('a header', () => {
  test.each<[string, Parameters<typeof headerLines>[0], string, string]>([
    [
      'of a gauge with a unit',
      { name: 'filer_a_bytes', help: 'Bytes.', type: 'gauge', unit: 'bytes' },
      '# HELP filer_a_bytes Bytes.\n# TYPE filer_a_bytes gauge\n',
      '# HELP filer_a_bytes Bytes.\n# TYPE filer_a_bytes gauge\n# UNIT filer_a_bytes bytes\n',
    ],
    [
      'of a counter, which OpenMetrics calls without _total',
      { name: 'filer_a_total', help: 'A.', type: 'counter' },
      '# HELP filer_a_total A.\n# TYPE filer_a_total counter\n',
      '# HELP filer_a A.\n# TYPE filer_a counter\n',
    ],
    [
      'of a name that does not end in its unit, which OpenMetrics forbids',
      { name: 'filer_bytes_per_second', help: 'A.', type: 'gauge', unit: 'bytes' },
      '# HELP filer_bytes_per_second A.\n# TYPE filer_bytes_per_second gauge\n',
      '# HELP filer_bytes_per_second A.\n# TYPE filer_bytes_per_second gauge\n',
    ],
    [
      'with a help of quotes, backslashes and lines',
      { name: 'filer_a', help: 'a "b" \\ c\nd', type: 'gauge' },
      '# HELP filer_a a "b" \\\\ c\\nd\n# TYPE filer_a gauge\n',
      '# HELP filer_a a \\"b\\" \\\\ c\\nd\n# TYPE filer_a gauge\n',
    ],
  ])('%s', (_, family, text, openMetrics) => {
    expect([headerLines(family, 'text'), headerLines(family, 'openmetrics')]).toEqual([text, openMetrics]);
  });
});

describe('a label value', () => {
  test.each([
    ['', ''],
    ['a "quoted" one', 'a \\"quoted\\" one'],
    ['C:\\share\\', 'C:\\\\share\\\\'],
    ['\\n is no line', '\\\\n is no line'],
    ['two\nlines', 'two\\nlines'],
    ['Büro \ud83d\ude00 東京', 'Büro \ud83d\ude00 東京'],
    ['half \ud83d a pair', 'half \ufffd a pair'],
    ['nul\0nul', 'nul\ufffdnul'],
  ])('%j is written %j', (value, written) => {
    const corrected = { cut: 0, duplicates: 0 };
    expect([escapeLabelValue(value, corrected), corrected.cut]).toEqual([written, 0]);
  });

  test.each<[string, string, number, number]>([
    ['exactly as long as allowed', 'a'.repeat(MAX_LABEL), MAX_LABEL, 0],
    ['one longer', 'a'.repeat(MAX_LABEL + 1), MAX_LABEL, 1],
    ['as many emoji as allowed', '\ud83d\ude00'.repeat(MAX_LABEL), MAX_LABEL, 0],
    ['one emoji more', '\ud83d\ude00'.repeat(MAX_LABEL + 1), MAX_LABEL, 1],
    ['an emoji across the cut', `a${'\ud83d\ude00'.repeat(2_000)}`, MAX_LABEL, 1],
  ])('is cut at 1,024 characters, never within one, and counted: %s', (_, value, characters, cuts) => {
    const corrected = { cut: 0, duplicates: 0 };
    const cleaned = escapeLabelValue(value, corrected);
    expect([Array.from(cleaned).length, corrected.cut, cleaned.isWellFormed()]).toEqual([characters, cuts, true]);
  });

  test('whatever it is, no more than 1,024 characters come back, and short ones whole', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 3_000, size: 'max' }), (value) => {
        const corrected = { cut: 0, duplicates: 0 };
        const [family] = parseExposition(
          `# HELP a a\n# TYPE a gauge\na${formatLabels({ l: value }, corrected)} 1\n`,
          'text',
        );
        const expected = Array.from(value).slice(0, MAX_LABEL).join('').toWellFormed().replaceAll('\0', '\ufffd');
        expect(family?.samples[0]?.labels.l).toBe(expected);
        expect(corrected.cut).toBe(Array.from(value).length > MAX_LABEL ? 1 : 0);
      }),
    );
  });
});

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({
    unit: fc.constantFrom('"', '\\', '\n', '\r', '{', '}', ',', '=', ' ', '#', '\0', '\ud83d', '\ude00', 'n'),
  }),
);
const number = fc.oneof(fc.double(), fc.constantFrom(Number.NaN, 1e21, -0, 5e-324));
const samples = fc.array(
  fc
    .tuple(hostile, hostile, number)
    .map(([filer, volume, value]): Sample => ({ name: 'filer_gauge', labels: { filer, volume }, value })),
  { minLength: 1 },
);

test('whatever the titles and numbers are, a scraper reads back what was meant, in both formats', () => {
  fc.assert(
    fc.property(samples, (published) => {
      const store = new LineStore([{ name: 'filer_gauge', help: 'A "gauge" \\ of\nall.', type: 'gauge' }]);
      store.publish('t', published);
      const meant = new Map<string, Sample>();
      for (const sample of published) {
        const clean = (text = '') => text.toWellFormed().replaceAll('\0', '\ufffd');
        const labels = { filer: clean(sample.labels.filer), volume: clean(sample.labels.volume) };
        meant.set(JSON.stringify(labels), { ...sample, labels });
      }
      for (const format of ['text', 'openmetrics'] as const) {
        const end = format === 'openmetrics' ? '# EOF\n' : '';
        const [family] = parseExposition(textOf(store, format) + end, format);
        expect(family).toMatchObject({ help: 'A "gauge" \\ of\nall.', type: 'gauge' });
        expect(family?.samples).toEqual([...meant.values()]);
      }
    }),
    { numRuns: 300 },
  );
});

test('what prom-client writes of the same gauges says the same', async () => {
  await fc.assert(
    fc.asyncProperty(samples, async (published) => {
      // prom-client leaves NUL and half pairs as they are, and writes -0 as 0.
      const plain = published
        .filter(({ labels }) => Object.values(labels).every((text) => text.isWellFormed() && !text.includes('\0')))
        .map((sample) => ({ ...sample, value: sample.value + 0 }));
      const registry = new Registry();
      const gauge = new Gauge({
        name: 'filer_gauge',
        help: 'h',
        labelNames: ['filer', 'volume'],
        registers: [registry],
      });
      for (const { labels, value } of plain) gauge.set(labels, value);
      const store = new LineStore([{ name: 'filer_gauge', help: 'h', type: 'gauge' }]);
      store.publish('t', plain);
      if (plain.length === 0) return;
      const ours = textOf(store);
      const theirs = (await registry.metrics()).replaceAll(' Nan\n', ' NaN\n');
      expect(parseExposition(ours, 'text')).toEqual(parseExposition(theirs, 'text'));
    }),
  );
});
