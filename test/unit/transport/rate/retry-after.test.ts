import { expect, test } from 'vitest';
import { retryAfterMs } from '../../../../src/transport/rate/retry-after.ts';

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
  const numbers = ['', 'soon', '-5', '1e3', '5 seconds', '5,10', '5.', '٣'];
  const dates = ['2026-03-02T10:00:30Z', 'Mon, 02 Mar 2026 10:00:30', 'Mon, 02 Xyz 2026 10:00:30 GMT', undefined];
  for (const text of [...numbers, ...dates]) expect(retryAfterMs(text, undefined, NOW), text).toBeUndefined();
});
