import { expect, test } from 'vitest';
import { chaos } from './chaos.ts';
import { TIGHT } from './told.ts';

test.each([3, 4])(
  'a day of faults by chance breaks no promise, with seed %d',
  async (seed) => {
    const calm = await chaos(seed, 1);
    expect(calm.requests).toBeGreaterThan(2_000);
    expect(calm.troubles).toBeGreaterThan(10);
    expect(calm.restarts).toBeGreaterThan(0);
    // The promises were asked for.
    expect(calm.appliancesFresh).toBeGreaterThan(50);
    expect(calm.dataFresh).toBeGreaterThan(50);
    expect(calm.counters).toBeGreaterThan(50);
    if (seed === 4) return;
    // The limits bind: nearly all of them is used, and no more.
    expect(calm.mostADay).toBeGreaterThan(0.8 * TIGHT.aDay);
    expect([calm.mostAWindow, calm.mostADay <= TIGHT.aDay]).toEqual([TIGHT.requests, true]);
  },
  600_000,
);
