// Only here: each time, each size of its error and each moment of a restart; and what only one draw in fifty does.
import { expect, test } from 'vitest';
import { errorsOf } from './life.ts';
import { drawnPlan, PLANS } from './plans.ts';

test(`after a time was wrong, in ${PLANS.length} ways, every state is right, every event is counted or dropped, and history goes on`, async () => {
  expect(await errorsOf(PLANS)).toEqual({});
}, 600_000);

test('after several times were wrong at once, and restarts, in 40 drawn ways, the same is true', async () => {
  expect(await errorsOf(Array.from({ length: 40 }, (_, index) => drawnPlan(100 + index)))).toEqual({});
}, 600_000);
