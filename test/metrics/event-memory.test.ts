import { describe, expect, test } from 'vitest';
import { EventMemory } from '../../src/metrics/event-memory.ts';
import { runToEnd } from '../../src/runtime/slices.ts';

const DAY_MS = 86_400_000;

/** An answer with these events; what the memory said of each. */
function answer(memory: EventMemory, now: number, events: readonly string[], pair = 'a'): readonly string[] {
  memory.begin(now);
  const said = events.map((identity) => memory.deliver(pair, identity));
  runToEnd(memory.forget(now - DAY_MS, () => true));
  return said;
}

const several = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `event ${from + index}`);

test('an event is known after its first delivery, for its own pair alone', () => {
  const memory = new EventMemory(10);
  expect(answer(memory, 0, ['x', 'x'])).toEqual(['unknown', 'known']);
  expect(answer(memory, 1, ['x'], 'b')).toEqual(['unknown']);
  expect(memory.size).toBe(2);
});

test('an event is remembered for a day from its last delivery, and forgotten then', () => {
  const memory = new EventMemory(10);
  for (const now of [0, DAY_MS, 2 * DAY_MS]) answer(memory, now, ['x']);
  expect(answer(memory, 3 * DAY_MS, [])).toEqual([]);
  expect(memory.size).toBe(1);
  answer(memory, 3 * DAY_MS + 1, []);
  expect(memory.size).toBe(0);
});

test('an event that could still count as new is not forgotten', () => {
  const memory = new EventMemory(10);
  answer(memory, 0, ['ahead', 'x']);
  runToEnd(memory.forget(DAY_MS, (identity) => identity !== 'ahead'));
  expect(answer(memory, 1, ['ahead', 'x'])).toEqual(['known', 'unknown']);
});

describe('a full memory', () => {
  test('evicts a tenth of the events, those delivered longest ago', () => {
    const memory = new EventMemory(100);
    answer(memory, 0, several(50));
    answer(memory, 1, several(50, 50));
    answer(memory, 2, several(25));
    expect(answer(memory, 3, ['new'])).toEqual(['unknown']);
    expect(memory).toMatchObject({ size: 91, evicted: 10 });
    // None of the two latest answers is among them.
    expect(new Set(answer(memory, 4, several(25)))).toEqual(new Set(['known']));
  });

  test('evicts nothing for an answer with more events than it can hold, however often that comes', () => {
    const memory = new EventMemory(100);
    const count = (said: readonly string[], word: string) => said.filter((each) => each === word).length;
    const first = answer(memory, 0, several(120));
    expect([count(first, 'unknown'), count(first, 'full')]).toEqual([100, 20]);
    for (const now of [1, 2, 3]) {
      const again = answer(memory, now, now % 2 === 0 ? several(120) : several(120).toReversed());
      expect([count(again, 'known'), count(again, 'full')]).toEqual([100, 20]);
    }
    expect(memory.evicted).toBe(0);
  });
});

test('a pair that is gone is forgotten whole', () => {
  const memory = new EventMemory(10);
  answer(memory, 0, ['x', 'y']);
  memory.drop('a');
  memory.drop('never seen');
  expect(memory.size).toBe(0);
});

test('a memory restored knows what the other one knew, and as long', () => {
  const before = new EventMemory(10);
  answer(before, 100, ['old']);
  answer(before, 200, ['x', 'y']);
  const after = new EventMemory(10);
  after.restore('a', JSON.parse(JSON.stringify(before.stateOf('a', 300))), 1_000);
  expect(after.stateOf('a', 1_000)).toEqual(before.stateOf('a', 300));
  answer(after, 800 + DAY_MS + 1, ['y']);
  expect(JSON.stringify(after.stateOf('a', 0))).not.toContain('old');
  expect(answer(after, 801 + DAY_MS + 1, ['x', 'y'])).toEqual(['known', 'known']);
});
