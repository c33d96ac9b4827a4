import { expect, test } from 'vitest';
import { meaningOfResponse } from '../../src/history/receiver-responses.ts';

test.each([
  ['Prometheus 2.42', 400, 'out of order sample', 'order'],
  ['Prometheus 2.42', 400, 'duplicate sample for timestamp', 'order'],
  ['Prometheus 2.42', 400, 'out of bounds', 'age'],
  ['Prometheus 2.42 with a window', 500, 'too old sample', 'age'],
  ['Prometheus 3', 400, 'duplicate sample for timestamp 1; overrides not allowed: existing 1, new value 2', 'order'],
  ['Prometheus 3', 400, 'out of bounds: timestamp is too far in the future', 'age'],
  ['Prometheus 3 with a window', 400, 'too old sample', 'age'],
  ['Mimir', 400, 'the sample has been rejected (err-mimir-sample-out-of-order)', 'partly'],
  ['Mimir', 400, 'the sample has been rejected (err-mimir-sample-timestamp-too-old)', 'partly'],
  ['Cortex', 400, 'user=t: err: out of order sample. timestamp=…, series={…}', 'partly'],
  ['Cortex', 400, 'user=t: err: out of bounds. timestamp=…, series={…}', 'partly'],
  ['Thanos', 409, 'add 2 series: out of bounds', 'partly'],
  ['InfluxDB', 400, 'partial write: points beyond retention policy dropped=1', 'partly'],
  ['anything in Rust', 500, 'index out of bounds: the len is 3 but the index is 5', 'retry'],
  ['anything in Java', 500, 'Index 5 out of bounds for length 3', 'retry'],
  ['anything in Java', 400, 'Index 5 out of bounds for length 3', 'invalid'],
  ['a proxy', 500, 'heartbeat is too old', 'retry'],
  ['a proxy', 413, '', 'size'],
  ['a proxy', 301, '', 'retry'],
  ['a proxy', 403, 'no', 'retry'],
  ['anything', 429, 'slow down', 'retry'],
  ['anything', 200, 'out of bounds', 'accepted'],
])('%s: %d %j', (_, status, text, effect) => {
  expect(meaningOfResponse(status, text).effect).toBe(effect);
});
