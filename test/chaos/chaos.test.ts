import { expect, test } from 'vitest';
import { chaos } from './chaos.ts';

test.each([1, 2, 3])(
  'a day of faults by chance breaks no promise, with seed %d',
  async (seed) => {
    const { requests, troubles } = await chaos(seed, 1);
    expect(requests).toBeGreaterThan(2_000);
    expect(troubles).toBeGreaterThan(10);
  },
  60_000,
);
