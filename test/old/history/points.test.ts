import { expect, test } from 'vitest';
import type { Bin } from '../../src/contract/minutes.ts';
import { selectPoints } from '../../src/history/points.ts';
import { runToEnd } from '../../src/runtime/slices.ts';

const MINUTE_MS = 60_000;
const START = Date.UTC(2026, 2, 2, 6);

/** The points of so many minutes, the newest of which ended an hour ago. */
function selected(samples: Bin['samples'], minutes = 3) {
  const bins = Array.from({ length: minutes }, (_, minute) => ({ at: START + minute * MINUTE_MS, samples }));
  const unused = new Map<string, number>();
  const to = START + minutes * MINUTE_MS;
  const options = { from: START, to, binMs: MINUTE_MS, labels: { job: 'minutes' }, now: to + 60 * MINUTE_MS };
  return { ...runToEnd(selectPoints(bins, options, unused)), unused: Object.fromEntries(unused) };
}

test('a value that cannot be used is counted in each minute, and its minute is done', () => {
  const { count, times, unused } = selected((note) => {
    note('invalid', 'items[0].cpu_usage');
    return [];
  });
  expect({ count, minutes: times.length, unused }).toEqual({ count: 0, minutes: 3, unused: { invalid: 3 } });
});

test('a record without a value is not counted, because the value may still come', () => {
  const { times, unused } = selected(() => []);
  expect({ minutes: times.length, unused }).toEqual({ minutes: 0, unused: {} });
});

test('labels are those of /metrics, sorted, and none is empty', () => {
  const labels = { filer: 'x'.repeat(2_000), disk: 'a\0b', state: '' };
  const { series } = selected(() => [{ name: 'filer_cpu', labels, value: 1 }]);
  expect(series.map((one) => one.labels)).toEqual([
    [
      ['__name__', 'filer_cpu'],
      ['disk', 'a\ufffdb'],
      ['filer', 'x'.repeat(1_024)],
      ['job', 'minutes'],
    ],
  ]);
});

test('of two records of one time the first is sent, and the other one is counted', () => {
  const { series, unused } = selected(() => [1, 2].map((value) => ({ name: 'filer_cpu', labels: {}, value })), 1);
  expect(series.map(({ values }) => values)).toEqual([[1]]);
  expect(unused).toEqual({ duplicate: 1 });
});
