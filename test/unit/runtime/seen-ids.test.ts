import { expect, test } from 'vitest';
import { SeenIds } from '../../../src/runtime/seen-ids.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A response with these ids, dated so far after it; the result for each. */
function respond(memory: SeenIds, now: number, ids: readonly string[], aheadMs?: number): readonly string[] {
  memory.begin(now);
  const results = ids.map((id) => memory.deliver(id, aheadMs));
  memory.forget();
  return results;
}

const several = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `id ${from + index}`);

const numberOf = (results: readonly string[], result: string) => results.filter((one) => one === result).length;

test('an id is known for a day after its last delivery', () => {
  const memory = new SeenIds(10, DAY_MS);
  expect(respond(memory, 0, ['x', 'x', 'y'])).toEqual(['unknown', 'known', 'unknown']);
  expect(respond(memory, DAY_MS, ['x'])).toEqual(['known']);
  respond(memory, DAY_MS + 1, []);
  expect(respond(memory, 2 * DAY_MS, ['x', 'y'])).toEqual(['known', 'unknown']);
  respond(memory, 3 * DAY_MS + 1, []);
  expect(memory.size).toBe(0);
});

test('an id that is dated ahead is known for a day after its own time', () => {
  const memory = new SeenIds(10, DAY_MS);
  respond(memory, 0, ['ahead'], 5 * DAY_MS);
  respond(memory, 1, ['x']);
  respond(memory, 6 * DAY_MS - 1, []);
  expect(respond(memory, 6 * DAY_MS - 1, ['x', 'ahead'])).toEqual(['unknown', 'known']);
  // Nothing is dated ahead by more than a month.
  respond(memory, 0, ['wrong'], 400 * DAY_MS);
  expect([respond(memory, 32 * DAY_MS, []), memory.size]).toEqual([[], 1]);
  expect([respond(memory, 32 * DAY_MS + 1, []), memory.size]).toEqual([[], 0]);
});

test('a full memory evicts the ids that were delivered longest ago, one for one', () => {
  const memory = new SeenIds(100, DAY_MS);
  respond(memory, 0, several(50));
  respond(memory, HOUR_MS, several(50, 50));
  respond(memory, 2 * HOUR_MS, several(25));
  expect(numberOf(respond(memory, 3 * HOUR_MS, several(10, 200)), 'unknown')).toBe(10);
  expect([memory.size, memory.evicted]).toEqual([100, 10]);
  // A late id takes no room.
  const late = several(100).map((id) => memory.deliver(id, 0, true));
  expect([numberOf(late, 'known'), numberOf(late, 'late')]).toEqual([90, 10]);
});

test('a full memory evicts no id of the last two responses, so a response that is too large is not counted again', () => {
  const memory = new SeenIds(100, DAY_MS);
  expect(numberOf(respond(memory, 0, several(120)), 'unknown')).toBe(100);
  for (const now of [1, 2, 3]) {
    const again = respond(memory, now, now % 2 === 0 ? several(120) : several(120).reverse());
    expect([numberOf(again, 'known'), numberOf(again, 'full')]).toEqual([100, 20]);
  }
  expect(memory.evicted).toBe(0);
});

test('a restored memory knows what the one before it knew, for as long, by its own clock', () => {
  const before = new SeenIds(10, DAY_MS);
  respond(before, HOUR_MS, ['old']);
  respond(before, 20 * HOUR_MS, ['x', 'y']);
  const after = new SeenIds(10, DAY_MS);
  after.restore(JSON.parse(JSON.stringify(before.save())), -20 * HOUR_MS, 0);
  respond(after, 6 * HOUR_MS, ['y']);
  expect(respond(after, 6 * HOUR_MS, ['old', 'x', 'y'])).toEqual(['unknown', 'known', 'known']);
});
