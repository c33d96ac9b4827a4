import { describe, expect, test } from 'vitest';
import { Histogram } from '../../src/metrics/histogram.ts';
import { valuesOf } from '../support/exposition-lines.ts';
import fc from '../support/fast-check.ts';

function lines(histogram: Histogram) {
  return valuesOf(histogram.samples('h', {}));
}

function filled(bounds: readonly number[], ...values: readonly number[]): Histogram {
  const histogram = new Histogram(bounds);
  for (const value of values) histogram.observe(value);
  return histogram;
}

describe('a histogram', () => {
  test('counts a value on a bound below it, and every bucket holds the ones before', () => {
    expect(lines(filled([10, 60], 0, 10, 10.5, 60, 61))).toEqual({
      'h_bucket{le="10.0"}': 2,
      'h_bucket{le="60.0"}': 4,
      'h_bucket{le="+Inf"}': 5,
      h_sum: 141.5,
      h_count: 5,
    });
  });

  test('without bounds keeps sum and count, and the infinite bucket', () => {
    expect(lines(filled([], 3, 4))).toEqual({ 'h_bucket{le="+Inf"}': 2, h_sum: 7, h_count: 2 });
  });

  test('keeps a finite sum, whatever the values, so that a restart does not lose it', () => {
    const histogram = filled([10], 1.7e308, 1.7e308);
    const restored = Histogram.restore([10], JSON.parse(JSON.stringify(histogram.state())));
    expect(lines(restored)).toEqual({
      'h_bucket{le="10.0"}': 0,
      'h_bucket{le="+Inf"}': 2,
      h_sum: Number.MAX_VALUE,
      h_count: 2,
    });
  });

  test('agrees with counting the values one by one', () => {
    const bounds = [1, 5, 25, 100];
    fc.assert(
      fc.property(fc.array(fc.nat(200)), (values) => {
        const told = lines(filled(bounds, ...values));
        for (const bound of bounds) {
          expect(told[`h_bucket{le="${bound}.0"}`]).toBe(values.filter((value) => value <= bound).length);
        }
        expect(told.h_count).toBe(values.length);
        expect(told.h_sum).toBe(values.reduce((sum, value) => sum + value, 0));
      }),
    );
  });
});

describe('a histogram restored', () => {
  test('with the same bounds goes on where it was', () => {
    const restored = Histogram.restore([10, 60], filled([10, 60], 5, 50, 500).state());
    restored.observe(7);
    expect(lines(restored)).toEqual(lines(filled([10, 60], 5, 50, 500, 7)));
  });

  test('with other bounds keeps sum and count, and counts a bucket at its upper bound', () => {
    expect(lines(Histogram.restore([20, 60], filled([10, 30], 5, 25, 500).state()))).toEqual({
      'h_bucket{le="20.0"}': 1,
      'h_bucket{le="60.0"}': 2,
      'h_bucket{le="+Inf"}': 3,
      h_sum: 530,
      h_count: 3,
    });
  });
});
