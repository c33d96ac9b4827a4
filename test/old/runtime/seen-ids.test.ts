import { describe, expect, test } from 'vitest';
import { type SavedIds, SeenIds } from '../../src/runtime/seen-ids.ts';
import { runToEnd } from '../../src/runtime/slices.ts';
import { readAgain } from '../support/kept.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A memory of a day, divided as that of a large account. */
const newMemory = (limit: number) => new SeenIds(limit, DAY_MS, 64);

/** An answer with these events, all of them so far ahead; what the memory said of each. */
function answer(memory: SeenIds, now: number, events: readonly string[], aheadMs = 0): readonly string[] {
  memory.begin(now);
  const said = events.map((identity) => memory.deliver(identity, aheadMs));
  runToEnd(memory.forget());
  return said;
}

const several = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `event ${from + index}`);

const count = (said: readonly string[], word: string) => said.filter((each) => each === word).length;

/** The memory of another process, from these pieces. */
function restored(pieces: Iterable<unknown>, answeredAt: number, shiftMs = 0, limit = 1_000): SeenIds {
  const memory = newMemory(limit);
  for (const ids of readAgain(pieces)) memory.restore(ids as SavedIds, shiftMs);
  memory.finishRestoring(answeredAt);
  return memory;
}

test('an event is known after its first delivery', () => {
  const memory = newMemory(10);
  expect(answer(memory, 0, ['x', 'x', 'y'])).toEqual(['unknown', 'known', 'unknown']);
  expect(answer(memory, 1, ['x'])).toEqual(['known']);
  expect(memory.size).toBe(2);
});

test('an event is remembered for a day from its last delivery, and forgotten within the next hour', () => {
  const memory = newMemory(10);
  for (const now of [0, DAY_MS, 2 * DAY_MS]) answer(memory, now, ['x']);
  answer(memory, 3 * DAY_MS, []);
  expect(memory.size).toBe(1);
  answer(memory, 3 * DAY_MS + HOUR_MS, []);
  expect(memory.size).toBe(0);
});

test('an event that is dated ahead is remembered for a day from its own time', () => {
  const memory = newMemory(10);
  answer(memory, 0, ['ahead'], 5 * DAY_MS);
  answer(memory, 1, ['x']);
  answer(memory, 3 * DAY_MS, []);
  expect(memory.size).toBe(1);
  answer(memory, 6 * DAY_MS - 1, []);
  expect(answer(memory, 6 * DAY_MS - 1, ['x', 'ahead'])).toEqual(['unknown', 'known']);
});

test('an event that comes and goes costs no more memory than one', () => {
  const memory = newMemory(1_000);
  const halves = [several(100), several(100, 100)];
  for (let now = 0; now < 1_000; now += 1) answer(memory, now, halves[now % 2] ?? []);
  expect(memory.size).toBe(200);
  expect(JSON.stringify([...memory.all()]).length).toBeLessThan(5_000 * 200);
});

describe('a full memory', () => {
  test('evicts the events delivered longest ago, one for one', () => {
    const memory = newMemory(100);
    answer(memory, 0, several(50));
    answer(memory, HOUR_MS, several(50, 50));
    answer(memory, 2 * HOUR_MS, several(25));
    expect(answer(memory, 3 * HOUR_MS, several(10, 200))).toEqual(Array(10).fill('unknown'));
    expect(memory).toMatchObject({ size: 100, evicted: 10 });
    // What is late and unknown takes no place.
    const late = (events: readonly string[]) => events.map((identity) => memory.deliver(identity, 0, true));
    expect(count(late(several(25)), 'known')).toBe(25);
    expect(count(late(several(25, 25)), 'known')).toBe(15);
    expect(count(late(several(50, 50)), 'known')).toBe(50);
  });

  test('evicts nothing for an answer with more events than it can hold, however often that comes', () => {
    const memory = newMemory(100);
    const first = answer(memory, 0, several(120));
    expect([count(first, 'unknown'), count(first, 'full')]).toEqual([100, 20]);
    for (const now of [1, 2, 3]) {
      const again = answer(memory, now, now % 2 === 0 ? several(120) : several(120).toReversed());
      expect([count(again, 'known'), count(again, 'full')]).toEqual([100, 20]);
    }
    expect(memory.evicted).toBe(0);
  });

  test('counts a first answer after a restart, for which older events leave', () => {
    const before = newMemory(100);
    answer(before, 0, several(90));
    answer(before, HOUR_MS, several(10, 90));
    answer(before, 2 * HOUR_MS, several(5, 90));
    const after = restored(before.all(), 2 * HOUR_MS, 0, 100);
    expect(answer(after, 3 * HOUR_MS, several(50, 500))).toEqual(Array(50).fill('unknown'));
    expect(count(answer(after, 4 * HOUR_MS, several(10, 90)), 'known')).toBe(10);
  });
});

test('a memory restored knows what the other one knew, and as long, by its own clock', () => {
  const before = newMemory(10);
  answer(before, HOUR_MS, ['old']);
  answer(before, 20 * HOUR_MS, ['x', 'y']);
  const after = restored(before.all(), 0, -20 * HOUR_MS);
  answer(after, 6 * HOUR_MS, ['y']);
  expect(answer(after, 6 * HOUR_MS, ['old', 'x', 'y'])).toEqual(['unknown', 'known', 'known']);
});

test('what an answer changes is what it brings first, and another process knows from it all that the first one knows', () => {
  const [memory, pieces] = [newMemory(1_000), [] as unknown[]];
  answer(memory, 0, several(500));
  pieces.push(...readAgain(memory.all()));
  memory.takeAdded();
  for (let now = 1; now < 24; now += 1) {
    answer(memory, now * HOUR_MS, several(500 - now * 10, now * 3));
    if (now === 5) answer(memory, now * HOUR_MS + 1, ['ahead'], 3 * DAY_MS);
    const changes = readAgain(memory.takeAdded());
    expect(JSON.stringify(changes).length).toBeLessThan(now < 18 ? 200 : 800);
    pieces.push(...changes);
  }
  const after = restored(pieces, 23 * HOUR_MS);
  const ids = (one: SeenIds) => new Set([...one.all()].flatMap(([, some]) => some));
  expect(ids(after)).toEqual(ids(memory));
  // What was dated ahead is known as long as by the first process.
  for (const one of [after, memory]) answer(one, 4 * DAY_MS + 4 * HOUR_MS, []);
  for (const one of [after, memory]) expect(answer(one, 4 * DAY_MS + 4 * HOUR_MS, ['ahead'])).toEqual(['known']);
});
