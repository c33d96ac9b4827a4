import { expect, test } from 'vitest';
import { GO_DURATION, goDurationMs, TokenBucket } from '../../../src/web/token-bucket.ts';
import fc from '../../harness/fast-check.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

test('a rate limit admits a burst at once, then one request each interval, and another burst after a pause', async () => {
  const clock = new ManualClock();
  const bucket = new TokenBucket({ intervalMs: 1_000, burst: 3 }, clock);
  const admitted = () => [1, 2, 3, 4].filter(() => bucket.take()).length;
  expect(admitted()).toBe(3);
  await clock.advance(999);
  expect(admitted()).toBe(0);
  await clock.advance(1);
  expect(admitted()).toBe(1);
  await clock.advance(60_000);
  expect(admitted()).toBe(3);
});

test('property: no period admits more than the burst and one request each interval, and none starves', async () => {
  const limit = fc.record({ intervalMs: fc.constantFrom(1, 8, 250, 1_000), burst: fc.integer({ min: 0, max: 5 }) });
  const pauses = fc.array(fc.integer({ min: 0, max: 2_000 }), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(limit, pauses, async ({ intervalMs, burst }, drawn) => {
      const clock = new ManualClock();
      const bucket = new TokenBucket({ intervalMs, burst }, clock);
      const admittedAt: number[] = [];
      for (const pause of drawn) {
        await clock.advance(pause);
        const isAdmitted = bucket.take();
        if (isAdmitted) admittedAt.push(clock.monotonic());
        if (pause >= intervalMs) expect(isAdmitted).toBe(burst > 0);
      }
      for (const [first, from] of admittedAt.entries()) {
        for (const [more, to] of admittedAt.slice(first).entries()) {
          expect(more + 1).toBeLessThanOrEqual(burst + (to - from) / intervalMs + 1e-9);
        }
      }
    }),
  );
});

test.each([
  ['0', 0],
  ['0s', 0],
  ['1h1m1s1ms', 3_661_001],
  ['1.5h', 5_400_000],
  ['.5s', 500],
  ['250us', 0.25],
  ['250\u00b5s', 0.25],
  ['500000ns', 0.5],
])('%s is a duration of Go: %d ms', (text, ms) => {
  expect(text).toMatch(GO_DURATION);
  expect(goDurationMs(text)).toBe(ms);
});

test.each(['5', '-1s', '1d', 'soon', '1s 1s', ''])('%j is no duration of Go', (text) => {
  expect(text).not.toMatch(GO_DURATION);
});
