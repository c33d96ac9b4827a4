import { expect, test } from 'vitest';
import { parseHttpDate, retryAfterMs } from '../../../../src/transport/rate/retry-after.ts';
import fc from '../../../harness/fast-check.ts';

const NOW = Date.UTC(2026, 2, 2, 10);
const SERVICE_NOW = 'Mon, 02 Mar 2026 11:00:00 GMT';

test.each<[header: string, date: string | undefined, seconds: number]>([
  ['30', undefined, 30],
  [' 2.5 ', undefined, 2.5],
  ['0', undefined, 1],
  ['1800', undefined, 1_800],
  ['99999999999', undefined, 3_600],
  ['Mon, 02 Mar 2026 10:00:30 GMT', undefined, 30],
  ['Mon, 2 Mar 2026 10:00:30 GMT', undefined, 30],
  ['Monday, 02-Mar-26 10:00:30 GMT', undefined, 30],
  ['Mon Mar  2 10:00:30 2026', undefined, 30],
  ['Mon, 02 Mar 2026 10:00:60 GMT', undefined, 59],
  ['Mon, 02 Mar 2026 11:00:30 GMT', SERVICE_NOW, 30],
  ['Mon, 02 Mar 2026 09:00:00 GMT', undefined, 1],
])('Retry-After: %s with Date: %s is a wait of %d s', (header, date, seconds) => {
  expect(retryAfterMs(header, date, NOW)).toBe(seconds * 1000);
});

test('other texts are no wait', () => {
  const texts = [
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
  ];
  const dates = ['Mon, 02 Xyz 2026 10:00:30 GMT', 'Mon, 02 Mar 2026 9:00:30 GMT', undefined];
  for (const text of [...texts, ...dates]) expect(retryAfterMs(text, undefined, NOW), text).toBeUndefined();
});

test('a date without a zone is the same in every zone of the machine', () => {
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
      const seconds = (retryAfterMs(retryAfter, now, NOW) ?? 1_000) / 1000;
      expect(seconds >= 1 && seconds <= 3_600).toBe(true);
    }),
  );
});
