// Only here: what one fleet in a hundred does. Each draw is named by its seed.
import { expect, test } from 'vitest';
import { drawn, played } from './constant-behaviour.ts';

test('100 drawn fleets that behave the same all the time: no verdict and no log line changes twice, and none is wrong', async () => {
  const complaints: string[] = [];
  let cost = 0;
  for (let seed = 1_000; seed < 1_100; seed += 1) {
    const result = await played(drawn(seed), 4);
    complaints.push(...result.wrong);
    complaints.push(...result.story.map((complaint) => `${seed}: ${complaint}`));
    cost = Math.max(cost, result.cost);
  }
  expect(complaints).toEqual([]);
  expect(cost).toBeLessThanOrEqual(1.2);
}, 1_800_000);

test('no verdict of 20 drawn fleets of which series hardly ever succeed is wrong in the end', async () => {
  const wrong: string[] = [];
  for (let seed = 1_000; seed < 1_020; seed += 1) wrong.push(...(await played(drawn(seed, true), 4)).wrong);
  expect(wrong).toEqual([]);
}, 900_000);
