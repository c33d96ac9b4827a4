import { expect, test } from 'vitest';
import { escapeLabelValue, type FamilyHeader, formatValue, headerLines } from '../../../src/exposition/format.ts';
import { LineStore } from '../../../src/exposition/store.ts';
import type { Sample } from '../../../src/metrics/samples.ts';
import { Scrape } from '../../harness/scrape.ts';

const families: readonly FamilyHeader[] = [
  { name: 'filer_b', help: 'B.', type: 'gauge' },
  { name: 'filer_a', help: 'A.', type: 'gauge' },
  { name: 'filer_events_total', help: 'Events.', type: 'counter' },
  { name: 'filer_took_seconds', help: 'Took.', type: 'histogram', unit: 'seconds' },
];

const sample = (name: string, of: string, value = 1): Sample => ({ name, labels: { of }, value });

const bytesOf = (store: LineStore, format: 'text' | 'openmetrics' = 'text') =>
  Buffer.concat([...store.snapshot(format).buffers()]).toString();

test.each([
  [0, '0'],
  [-0, '-0'],
  [0.1, '0.1'],
  [1e21, '1e+21'],
  [Number.NaN, 'NaN'],
  [Number.POSITIVE_INFINITY, '+Inf'],
  [Number.NEGATIVE_INFINITY, '-Inf'],
])('the number %d is written %s', (value, text) => {
  expect(formatValue(value)).toBe(text);
});

test.each<[string, FamilyHeader, string, string]>([
  [
    'of a gauge has its unit in OpenMetrics',
    { name: 'filer_a_bytes', help: 'Bytes.', type: 'gauge', unit: 'bytes' },
    '# HELP filer_a_bytes Bytes.\n# TYPE filer_a_bytes gauge\n',
    '# HELP filer_a_bytes Bytes.\n# TYPE filer_a_bytes gauge\n# UNIT filer_a_bytes bytes\n',
  ],
  [
    'of a counter is without _total in OpenMetrics',
    { name: 'filer_a_total', help: 'a "b" \\ c\nd', type: 'counter' },
    '# HELP filer_a_total a "b" \\\\ c\\nd\n# TYPE filer_a_total counter\n',
    '# HELP filer_a a \\"b\\" \\\\ c\\nd\n# TYPE filer_a counter\n',
  ],
  [
    'has no unit that the name does not end in',
    { name: 'filer_bytes_per_second', help: 'A.', type: 'gauge', unit: 'bytes' },
    '# HELP filer_bytes_per_second A.\n# TYPE filer_bytes_per_second gauge\n',
    '# HELP filer_bytes_per_second A.\n# TYPE filer_bytes_per_second gauge\n',
  ],
])('a header %s', (_, family, text, openMetrics) => {
  expect([headerLines(family, 'text'), headerLines(family, 'openmetrics')]).toEqual([text, openMetrics]);
});

const emoji = '\ud83d\ude00';

test.each([
  ['with quotes, backslashes and line breaks has them escaped', '"a\\b"\n\r', '\\"a\\\\b\\"\\n\r', 0],
  ['with half a pair has a replacement for it', 'half \ud83d a pair', 'half \ufffd a pair', 0],
  ['with NUL has a replacement for it', 'nul\0nul', 'nul\ufffdnul', 0],
  ['of 1,024 characters is whole', emoji.repeat(1_024), emoji.repeat(1_024), 0],
  ['that is longer is cut between characters', `a${emoji.repeat(2_000)}`, `a${emoji.repeat(1_023)}`, 1],
])('a label value %s', (_, value, text, cut) => {
  const corrected = { cut: 0, duplicates: 0 };
  expect([escapeLabelValue(value, corrected), corrected.cut]).toEqual([text, cut]);
});

test('families are in the order of the catalogue and in one piece, with what each task published last', async () => {
  const store = new LineStore(families);
  await store.accept('t3', [sample('filer_b', '3')]);
  await store.accept('t1', [sample('filer_a', 'left'), sample('filer_b', '1'), sample('filer_b', 'left')]);
  await store.accept('t2', [sample('filer_b', '2'), sample('filer_a', '2')]);
  await store.accept('t4', [sample('filer_a', 'left')]);
  await store.accept('t1', [sample('filer_b', '1', 5)]);
  store.withdraw('t4');
  expect(bytesOf(store)).toBe(
    '# HELP filer_b B.\n# TYPE filer_b gauge\nfiler_b{of="1"} 5\nfiler_b{of="2"} 1\nfiler_b{of="3"} 1\n' +
      '# HELP filer_a A.\n# TYPE filer_a gauge\nfiler_a{of="2"} 1\n',
  );
  expect(store.samples).toBe(4);
  expect(store.snapshot('text').length).toBe(Buffer.byteLength(bytesOf(store)));
});

test('of two samples with the same labels the later is kept, also if only a cut has made them equal', async () => {
  const store = new LineStore(families);
  const long = 'a'.repeat(2_000);
  const corrected = await store.accept('t', [sample('filer_a', `${long}1`, 1), sample('filer_a', `${long}2`, 2)]);
  expect(corrected).toEqual({ cut: 2, duplicates: 1 });
  expect(new Scrape(bytesOf(store)).value('filer_a')).toBe(2);
});

test('values are withdrawn, and counters only if asked to', async () => {
  const store = new LineStore(families);
  await store.accept('t', [sample('filer_a', 'x'), sample('filer_events_total', 'x')]);
  store.withdraw('t', true);
  expect(new Scrape(bytesOf(store)).names).toEqual(['filer_events_total']);
  store.withdraw('t');
  expect([bytesOf(store), store.samples]).toEqual(['', 0]);
});

const many = Array.from({ length: 100 }, (_, index) => sample('filer_a', `${index}`));

test.each([
  ['a name that the catalogue does not have', [sample('filer_unknown', 'x')], 'the catalogue does not declare it'],
  ['lines for which there is no memory', many, 'bytes of memory'],
])('the store rejects %s, and keeps what it had', async (_, samples, message) => {
  const store = new LineStore(families, 1_000);
  await store.accept('t', [sample('filer_a', 'x')]);
  await expect(store.accept('t', samples)).rejects.toThrow(message);
  expect(new Scrape(bytesOf(store)).value('filer_a')).toBe(1);
});

test('a scrape that has begun gets every byte of its moment in buffers of half a mebibyte, whatever changes meanwhile', async () => {
  const store = new LineStore(families);
  const kibibytes = Array.from({ length: 2_048 }, (_, id) => sample('filer_a', `${id}`.padStart(1_007, 'x')));
  await store.accept('t', kibibytes);
  const expected = bytesOf(store);
  const sent: Buffer[] = [];
  for (const buffer of store.snapshot('text').buffers()) {
    sent.push(Buffer.from(buffer));
    store.withdraw('t');
  }
  const header = '# HELP filer_a A.\n# TYPE filer_a gauge\n'.length;
  expect(sent.map(({ length }) => length)).toEqual([header + 524_288, 524_288, 524_288, 524_288]);
  expect(Buffer.concat(sent).toString() === expected).toBe(true);
});
