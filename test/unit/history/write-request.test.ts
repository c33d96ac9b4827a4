import { uncompress } from 'snappyjs';
import { expect, test } from 'vitest';
import { timeSeriesOf, writeRequest } from '../../../src/history/write-request.ts';
import type { Sample } from '../../../src/metrics/samples.ts';

/** The series of one minute with these samples. */
function seriesOf(samples: readonly Sample[]) {
  const bin = { at: 60_000, samples, previous: 0, mayHaveArrived: false };
  return timeSeriesOf([{ ...bin, cursor: {} as never }], { job: 'minutes', filer: 'added' });
}

test('labels are those of /metrics, sorted, and none is empty', () => {
  const labels = { filer: 'x'.repeat(2_000), disk: 'a\0b', state: '' };
  expect(seriesOf([{ name: 'filer_cpu', labels, value: 1 }]).map((series) => series.labels)).toEqual([
    [
      ['__name__', 'filer_cpu'],
      ['disk', 'a\ufffdb'],
      ['filer', 'x'.repeat(1_024)],
      ['job', 'minutes'],
    ],
  ]);
});

test('of two samples of one series and one minute the first is sent, because a receiver would reject both', () => {
  const samples = [1, 2].map((value) => ({ name: 'filer_cpu', labels: {}, value }));
  expect(seriesOf(samples).map(({ points }) => points)).toEqual([[{ at: 60_000, value: 1 }]]);
});

test('a request is in the wire format of the protocol', () => {
  const points = [{ at: 1_772_445_300_000, value: 0.5 }];
  const bytes = uncompress(writeRequest([{ labels: [['job', 'é']], points }]));
  const label = ['0a09', '0a03', '6a6f62', '1202', 'c3a9'];
  const point = ['1210', '09', '000000000000e03f', '10', 'a0eae3efca33'];
  expect(Buffer.from(bytes).toString('hex')).toBe(['0a1d', ...label, ...point].join(''));
});
