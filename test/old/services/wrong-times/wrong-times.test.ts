import { expect, test } from 'vitest';
import { errorsOf } from './life.ts';
import { drawnPlan, PLANS } from './plans.ts';

/** All of them are in `wrong-times.all.test.ts`. */
const EVERY = 79;

test('[wrong-times] after a time was wrong, every state is right, every event is counted or dropped, and history goes on', async () => {
  expect(await errorsOf(PLANS.filter((_, index) => index % EVERY === 0))).toEqual({});
});

test('after several times were wrong at once, and restarts, the same is true', async () => {
  expect(await errorsOf([1, 2, 3].map(drawnPlan))).toEqual({});
});
