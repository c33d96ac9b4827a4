import { expect, test } from 'vitest';
import { rejectionOf } from '../../../src/history/rejections.ts';

test.each([
  [400, 'out of bounds', 'too_old'],
  [400, 'out of order sample', 'out_of_order'],
  [400, 'duplicate sample for timestamp', 'out_of_order'],
  [400, 'user=anonymous: err: sample timestamp is too old (err-mimir-sample-timestamp-too-old)', 'too_old'],
  [400, 'another sample with the same timestamp (err-mimir-sample-duplicate-timestamp)', 'out_of_order'],
  [409, 'store locally: sample out of order', 'out_of_order'],
  [400, 'partial write: points beyond retention policy dropped=3', 'too_old'],
  [413, 'request entity too large', 'too_large'],
  [422, 'max label names per series exceeded', 'rejected'],
  [500, 'too old sample', 'too_old'],
  [500, 'a proxy: too old sample', undefined],
  [401, 'out of order sample', undefined],
  [302, '', undefined],
])('a receiver that returns %i with "%s" rejects the points as %s', (status, text, reason) => {
  expect(rejectionOf(status, text)).toBe(reason);
});
