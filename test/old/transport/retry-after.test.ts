import { expect, test } from 'vitest';
import { parseHttpDate } from '../../src/transport/http-date.ts';
import { RETRY_AFTER_BOUNDS, retryAfterMs } from '../../src/transport/retry-after.ts';
import fc from '../support/fast-check.ts';

const now = Date.UTC(2026, 2, 2, 10, 0, 0);
const { minMs, maxMs } = RETRY_AFTER_BOUNDS;

test.each([
  ['7', 7_000],
  [' 7 ', 7_000],
  ['1.5', 1_500],
  ['0', minMs],
  ['900', maxMs],
  ['901', maxMs],
  ['9'.repeat(400), maxMs],
])('Retry-After: %s is a number of seconds, within bounds', (text, ms) => {
  expect(retryAfterMs(text, undefined, now)).toBe(ms);
});

test.each([
  ['Mon, 02 Mar 2026 10:00:30 GMT', 30_000],
  ['Monday, 02-Mar-26 10:00:30 GMT', 30_000],
  ['Mon Mar  2 10:00:30 2026', 30_000],
  ['Mon, 02 Mar 2026 10:00:60 GMT', 60_000],
  ['Mon, 02 Mar 2026 10:00:00 GMT', minMs],
  ['Mon, 02 Mar 2026 09:00:00 GMT', minMs],
  ['Tue, 03 Mar 2026 10:00:00 GMT', maxMs],
])('Retry-After: %s is an HTTP date in any of the three formats', (text, ms) => {
  expect(retryAfterMs(text, undefined, now)).toBe(ms);
});

test('a year of two digits is at most fifty years ahead', () => {
  const yearOf = (text: string) => new Date(parseHttpDate(text, now) ?? Number.NaN).getUTCFullYear();
  expect(
    ['25', '26', '75', '76', '77', '99', '00'].map((year) => yearOf(`Monday, 01-Feb-${year} 10:00:00 GMT`)),
  ).toEqual([2025, 2026, 2075, 2076, 1977, 1999, 2000]);
  expect(yearOf('Monday, 03-Mar-76 10:00:00 GMT')).toBe(1976);
});

test('a year of four digits is that year, also the year 50', () => {
  expect(parseHttpDate('Sun, 02 Mar 0050 10:00:30 GMT', now)).toBe(Date.parse('0050-03-02T10:00:30Z'));
});

test.each([
  ['the service is an hour ahead', 'Mon, 02 Mar 2026 11:00:30 GMT', 'Mon, 02 Mar 2026 11:00:00 GMT', 30_000],
  ['its Date cannot be read', 'Mon, 02 Mar 2026 10:00:30 GMT', 'yesterday', 30_000],
  ['its Date is no HTTP date', 'Mon, 02 Mar 2026 10:00:30 GMT', '2026', 30_000],
  ['seconds need no Date', '7', 'Mon, 02 Mar 2026 23:00:00 GMT', 7_000],
])('a wait is counted from the answer’s own Date where that can be read: %s', (_, text, date, ms) => {
  expect(retryAfterMs(text, date, now)).toBe(ms);
});

test.each([
  [undefined],
  [''],
  ['soon'],
  ['-5'],
  ['1e3'],
  ['5 seconds'],
  ['5,10'],
  ['5.'],
  ['٣'],
  ['2026-03-02T10:00:30Z'],
  ['Mon, 02 Mar 2026 10:00:30'],
  ['Mon, 30 Feb 2026 10:00:30 GMT'],
  ['Mon, 02 Mar 2026 24:00:30 GMT'],
  ['Monday, 02-Mar-2026 10:00:30 GMT'],
  ['Mon, 02 Xyz 2026 10:00:30 GMT'],
  ['Mon, 02 Mar 2026 9:00:30 GMT'],
])('Retry-After: %s tells nothing', (text) => {
  expect(retryAfterMs(text, undefined, now)).toBeUndefined();
});

test('whatever the headers hold, the hold is within its bounds or not told', () => {
  const date = fc
    .date({ min: new Date(0), max: new Date(Date.UTC(9999, 0, 1)), noInvalidDate: true })
    .map((moment) => moment.toUTCString());
  const header = fc.option(fc.oneof(fc.string(), fc.double().map(String), fc.integer().map(String), date), {
    nil: undefined,
  });
  fc.assert(
    fc.property(header, header, fc.integer({ min: 0, max: 4e12 }), (retryAfter, answered, at) => {
      const ms = retryAfterMs(retryAfter, answered, at);
      if (ms === undefined) return;
      expect(ms).toBeGreaterThanOrEqual(minMs);
      expect(ms).toBeLessThanOrEqual(maxMs);
    }),
    { numRuns: 1_000 },
  );
});
