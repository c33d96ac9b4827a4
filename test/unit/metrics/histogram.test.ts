import { expect, test } from 'vitest';
import { Histogram } from '../../../src/metrics/histogram.ts';
import { valuesOf } from '../../harness/sample-values.ts';

function lines(histogram: Histogram) {
  return valuesOf(histogram.samples('h', {}));
}

function filled(bounds: readonly number[], ...values: readonly number[]): Histogram {
  const histogram = new Histogram(bounds);
  for (const value of values) histogram.observe(value);
  return histogram;
}

test('a histogram counts a value on a bound below it, and every bucket holds the ones before', () => {
  expect(lines(filled([10, 60], 0, 10, 10.5, 60, 61))).toEqual({
    'h_bucket{le="10.0"}': 2,
    'h_bucket{le="60.0"}': 4,
    'h_bucket{le="+Inf"}': 5,
    h_sum: 141.5,
    h_count: 5,
  });
});

test('a histogram without bounds keeps sum and count, and the infinite bucket', () => {
  expect(lines(filled([], 3, 4))).toEqual({ 'h_bucket{le="+Inf"}': 2, h_sum: 7, h_count: 2 });
});

test('the sum of a histogram stays finite, whatever the values', () => {
  expect(lines(filled([10], 1.7e308, 1.7e308)).h_sum).toBe(Number.MAX_VALUE);
});
