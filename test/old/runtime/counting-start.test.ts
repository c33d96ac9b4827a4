import { expect, test } from 'vitest';
import { CountingStart } from '../../src/runtime/counting-start.ts';
import { ManualClock } from '../support/manual-clock.ts';

const NOON = Date.UTC(2026, 2, 2, 12);
const YEAR_MS = 31_536_000_000;

test.each([
  ['right', 0],
  ['a year ahead', YEAR_MS],
  ['in 1970', -NOON],
])('a start under a clock that is %s is when it was, once the clock is right', async (_, offMs) => {
  const clock = new ManualClock(NOON + offMs);
  const start = new CountingStart(clock);
  await clock.advance(60_000);
  clock.step(-offMs);
  await clock.advance(60_000);
  expect(start.seconds).toBe(NOON / 1000);
  expect(start.ageMs).toBe(120_000);
});

test('while the clock cannot be right everything is from before it', () => {
  const start = new CountingStart(new ManualClock(0));
  expect([start.isKnown, start.seconds]).toEqual([false, Number.POSITIVE_INFINITY]);
});

test('another process goes on from how long ago it was', async () => {
  const clock = new ManualClock(NOON);
  const start = new CountingStart(clock);
  start.restore({ ageMs: 90_000, since: null });
  await clock.advance(1_000);
  expect(start.seconds).toBe(NOON / 1000 - 90);
  expect(start.state()).toEqual({ ageMs: 91_000, since: null });
});

test('what was once not from before it stays so while the clock is ahead, in another process too', () => {
  const clock = new ManualClock(NOON);
  const start = new CountingStart(clock);
  const at = NOON / 1000;
  expect([at - 1, at + 1].map((moment) => start.includes(moment))).toEqual([false, true]);
  clock.step(YEAR_MS);
  const next = new CountingStart(clock);
  next.restore(JSON.parse(JSON.stringify(start.state())));
  for (const one of [start, next]) {
    expect([at - 1, at + 1, at + 2].map((moment) => one.includes(moment))).toEqual([false, true, true]);
  }
});
