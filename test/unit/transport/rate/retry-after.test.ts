import { expect, test } from 'vitest';
import { parseHttpDate, retryAfterMs } from '../../../../src/transport/rate/retry-after.ts';
import fc from '../../../harness/fast-check.ts';

const NOW = Date.UTC(2026, 2, 2, 10);
const SECOND = 1_000;

test.each<[string, string | undefined, number]>([
  ['30', undefined, 30 * SECOND],
  [' 2.5 ', undefined, 2.5 * SECOND],
  ['0', undefined, SECOND],
  ['1800', undefined, 1_800 * SECOND],
  ['99999999999', undefined, 3_600 * SECOND],
  ['Mon, 02 Mar 2026 10:00:30 GMT', undefined, 30 * SECOND],
  ['Mon, 2 Mar 2026 10:00:30 GMT', undefined, 30 * SECOND],
  ['Monday, 02-Mar-26 10:00:30 GMT', undefined, 30 * SECOND],
  ['Mon Mar  2 10:00:30 2026', undefined, 30 * SECOND],
  ['Mon, 02 Mar 2026 10:00:60 GMT', undefined, 59 * SECOND],
  ['Mon, 02 Mar 2026 11:00:30 GMT', 'Mon, 02 Mar 2026 11:00:00 GMT', 30 * SECOND],
  ['Mon, 02 Mar 2026 09:00:00 GMT', undefined, SECOND],
])('Retry-After: %s with Date: %s is a wait of %d ms', (retryAfter, date, ms) => {
  expect(retryAfterMs(retryAfter, date, NOW)).toBe(ms);
});

test.each([
  undefined,
  '',
  'soon',
  '-5',
  '1e3',
  '5 seconds',
  '5,10',
  '5.',
  '٣',
  '2026-03-02T10:00:30Z',
  'Mon, 02 Mar 2026 10:00:30',
  'Mon, 02 Xyz 2026 10:00:30 GMT',
  'Mon, 02 Mar 2026 9:00:30 GMT',
])('Retry-After: %s is no wait', (retryAfter) => {
  expect(retryAfterMs(retryAfter, undefined, NOW)).toBeUndefined();
});

test('a date is the same in every zone of the machine', () => {
  const zone = process.env.TZ;
  process.env.TZ = 'Asia/Kolkata';
  expect(parseHttpDate('Mon Mar  2 10:00:00 2026')).toBe(NOW);
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

test('property: whatever the headers contain, a wait is from a second to an hour', () => {
  const date = fc.date({ noInvalidDate: true }).map((moment) => moment.toUTCString());
  const header = fc.option(fc.oneof(fc.string(), fc.double().map(String), date), { nil: undefined });
  fc.assert(
    fc.property(header, header, (retryAfter, now) => {
      const ms = retryAfterMs(retryAfter, now, NOW) ?? SECOND;
      expect(ms).toBeGreaterThanOrEqual(SECOND);
      expect(ms).toBeLessThanOrEqual(3_600 * SECOND);
    }),
    { numRuns: 1_000 },
  );
});
