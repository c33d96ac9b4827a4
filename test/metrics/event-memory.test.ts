import { describe, expect, test } from 'vitest';
import { EventMemory } from '../../src/metrics/event-memory.ts';

const HOUR = 3600;
const NOON = 1_772_452_800;

function memory(limits: { perPair?: number; total?: number } = {}): EventMemory {
  return new EventMemory({ perPair: 1_000, total: 10_000, ...limits });
}

/** An answer with an event at each of these seconds; how many of them were new. */
function answer(to: EventMemory, times: readonly number[], pair = 'a', bookmark?: number): number {
  const fresh = times.filter((at) => to.admit(pair, String(at), at)).length;
  to.answered(Math.min(...times), Math.max(...times), bookmark);
  return fresh;
}

const every = (step: number, from: number, to: number) =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);

describe('an event', () => {
  test('is new once, for its own pair alone', () => {
    const seen = memory();
    expect(seen.admit('a', 'x', NOON)).toBe(true);
    expect(seen.admit('a', 'x', NOON)).toBe(false);
    expect(seen.admit('b', 'x', NOON)).toBe(true);
    expect(seen.size).toBe(2);
  });

  test('is remembered for an hour when answers bring only what is new', () => {
    const seen = memory();
    for (const at of every(60, NOON, NOON + HOUR)) answer(seen, [at]);
    expect(seen.size).toBe(61);
    for (const at of every(60, NOON + HOUR + 60, NOON + 10 * HOUR)) answer(seen, [at]);
    expect(seen.size).toBeLessThan(70);
    expect(seen.evicted).toBe(0);
  });

  test('is remembered while full answers go on bringing it', () => {
    const seen = memory();
    const day = every(600, NOON, NOON + 24 * HOUR);
    expect(answer(seen, day)).toBe(145);
    for (let poll = 0; poll < 200; poll += 1) expect(answer(seen, day)).toBe(0);
  });

  test('counts no second time when the service begins all over after hours of news alone', () => {
    const seen = memory();
    const day = every(60, NOON, NOON + 24 * HOUR);
    for (const at of day) answer(seen, [at]);
    expect(seen.size).toBeLessThan(70);
    expect(answer(seen, day)).toBe(0);
  });

  test('that comes hours late counts, for a pair that was silent meanwhile', () => {
    const seen = memory();
    for (const at of every(60, NOON, NOON + 24 * HOUR)) answer(seen, [at], 'lively');
    expect(answer(seen, [NOON + HOUR, NOON + 2 * HOUR], 'silent')).toBe(2);
  });

  test('older than the bookmark that the service still tells is kept for longer', () => {
    const seen = memory();
    answer(seen, [NOON]);
    answer(seen, [NOON + 3 * HOUR], 'a', NOON);
    expect(seen.size).toBe(2);
    answer(seen, [NOON + 3 * HOUR]);
    expect(seen.size).toBe(1);
  });
});

describe('a full memory', () => {
  test('lets the oldest tenth of the pair go and counts them', () => {
    const seen = memory({ perPair: 100 });
    answer(seen, every(1, NOON, NOON + 100));
    expect(seen).toMatchObject({ size: 91, evicted: 10 });
    expect(seen.admit('a', String(NOON + 100), NOON + 100)).toBe(false);
  });

  test('of all pairs lets the oldest tenth of everything go', () => {
    const seen = memory({ total: 100 });
    for (let pair = 0; pair < 101; pair += 1) seen.admit(`pair ${pair}`, 'x', NOON + pair);
    expect(seen).toMatchObject({ size: 91, evicted: 10 });
  });

  test('stays within its limits when all events share one second', () => {
    const seen = memory({ perPair: 10 });
    for (let index = 0; index < 1_000; index += 1) seen.admit('a', String(index), NOON);
    expect(seen.size).toBeLessThanOrEqual(10);
    expect(seen.size + seen.evicted).toBe(1_000);
  });

  test('still counts what comes for the first time, however old', () => {
    const seen = memory({ perPair: 100 });
    expect(answer(seen, every(1, NOON, NOON + 299).toReversed())).toBe(300);
  });
});

test('a pair that is gone is forgotten whole', () => {
  const seen = memory();
  for (const at of every(60, NOON, NOON + 3 * HOUR)) answer(seen, [at]);
  seen.drop('a');
  expect(seen.size).toBe(0);
  expect(answer(seen, [NOON])).toBe(1);
  seen.drop('never seen');
});

test('an answer without events forgets nothing', () => {
  const seen = memory();
  seen.answered(Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, undefined);
  answer(seen, [NOON]);
  seen.answered(Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, undefined);
  expect(seen.admit('a', String(NOON), NOON)).toBe(false);
});

test('a memory restored knows what the other one knew, through JSON', () => {
  const before = memory();
  const day = every(60, NOON, NOON + 24 * HOUR);
  for (const at of day) answer(before, [at]);
  const after = memory();
  after.restore(JSON.parse(JSON.stringify(before.state())));
  after.restorePair('a', JSON.parse(JSON.stringify(before.stateOf('a'))));
  expect(after.size).toBe(before.size);
  expect(answer(after, day)).toBe(0);
  expect(memory().state()).toMatchObject({ frontier: null });
});
