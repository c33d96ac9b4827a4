import { describe, expect, test } from 'vitest';
import { formatDuration, parseDuration } from '../../src/config/duration.ts';
import fc from '../support/fast-check.ts';

describe('a duration', () => {
  test.each([
    ['0', 0],
    ['0s', 0],
    ['500ms', 500],
    ['15s', 15_000],
    ['90s', 90_000],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['1d', 86_400_000],
    ['1w', 604_800_000],
    ['1y', 31_536_000_000],
    ['1y2w3d4h5m6s7ms', 33_019_506_007],
    ['292y', 9_208_512_000_000],
    ['3w2d1h', 1_990_800_000],
    ['106751d', 9_223_286_400_000],
    ['007s', 7000],
  ])('%s is understood as Prometheus understands it', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each([
    [''],
    ['5'],
    ['5 minutes'],
    ['5 m'],
    [' 5m'],
    ['5m\n'],
    ['-5m'],
    ['1.5h'],
    ['30m1h'],
    ['1m1m'],
    ['1M'],
    ['m'],
    ['1e3s'],
    ['1µs'],
    ['9999999999999999y'],
    ['293y'],
    ['106752d'],
    ['1h 1m'],
  ])('%j is not one', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  test.each([
    [0, '0s'],
    [500, '500ms'],
    [60_000, '1m'],
    [5_400_000, '1h30m'],
    [86_400_000, '1d'],
    [90 * 86_400_000, '90d'],
    [14 * 86_400_000, '2w'],
    [31_536_000_000, '1y'],
    [366 * 86_400_000, '366d'],
    [1001, '1s1ms'],
  ])('%d ms is shown as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  test('any length that is shown can be set again', () => {
    fc.assert(
      fc.property(fc.nat({ max: 9_223_372_036_854 }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBe(ms);
      }),
    );
  });

  test('any text is a duration or is not, and never a fraction or a negative one', () => {
    const likely = fc.stringMatching(/^(\d{1,4}(y|w|d|h|m|s|ms)){1,4}$/);
    fc.assert(
      fc.property(fc.oneof(fc.string(), likely), (text) => {
        const ms = parseDuration(text);
        expect(ms === undefined || (Number.isSafeInteger(ms) && ms >= 0)).toBe(true);
      }),
    );
  });
});
