import { expect, test } from 'vitest';
import { TokenBucket } from '../../../src/web/access-control.ts';
import fc from '../../harness/fast-check.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

test('property: no period admits more than the burst and one request each interval, and who waits is admitted', async () => {
  const limit = fc.record({ intervalMs: fc.constantFrom(1, 8, 250, 1_000), burst: fc.integer({ min: 0, max: 5 }) });
  const pauses = fc.array(fc.integer({ min: 0, max: 2_000 }), { maxLength: 40 });
  const property = fc.asyncProperty(limit, pauses, async ({ intervalMs, burst }, drawn) => {
    const clock = new ManualClock();
    const bucket = new TokenBucket({ intervalMs, burst }, clock);
    const admittedAt: number[] = [];
    for (const pause of drawn) {
      await clock.advance(pause);
      const isAdmitted = bucket.take();
      if (isAdmitted) admittedAt.push(clock.monotonic());
      if (pause >= intervalMs || admittedAt.length === 0) expect(isAdmitted).toBe(burst > 0);
    }
    for (const [first, from] of admittedAt.entries()) {
      for (const [more, to] of admittedAt.slice(first).entries()) {
        expect(more + 1).toBeLessThanOrEqual(burst + (to - from) / intervalMs + 1e-9);
      }
    }
  });
  await fc.assert(property);
});
