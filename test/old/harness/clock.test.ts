import { expect, test } from 'vitest';
import { ManualClock } from '../support/manual-clock.ts';

test('sleepers wake by time, and those of one moment together, in the order in which they went to sleep', async () => {
  const clock = new ManualClock();
  const woken: string[] = [];
  const sleeps = (ms: number, name: string) =>
    clock.sleep(ms).then(() => woken.push(`${name} at ${clock.monotonic()}`));
  for (const [ms, name] of [
    [30, 'c'],
    [10, 'a'],
    [20, 'b'],
    [10, 'also a'],
    [5, 'first'],
  ] as const)
    void sleeps(ms, name);
  await clock.advance(20);
  expect(woken).toEqual(['first at 5', 'a at 10', 'also a at 10', 'b at 20']);
  expect(clock.sleeping).toBe(1);
});

test('who is woken by an abort sleeps no more, and who goes to sleep while time passes wakes in it', async () => {
  const clock = new ManualClock();
  const stop = new AbortController();
  let laps = 0;
  const runs = async () => {
    while (laps < 100) {
      await clock.sleep(7);
      laps += 1;
    }
  };
  void runs();
  void clock.sleep(1_000, stop.signal);
  stop.abort();
  expect(clock.sleeping).toBe(1);
  await clock.advance(70);
  expect(laps).toBe(10);
});

test('a thousand sleepers in any order wake in theirs', async () => {
  const clock = new ManualClock();
  const times: number[] = [];
  for (let index = 0; index < 1_000; index += 1) {
    void clock.sleep((index * 7_919) % 1_009).then(() => times.push(clock.monotonic()));
  }
  await clock.advance(1_009);
  expect(times).toEqual(times.toSorted((one, other) => one - other));
  expect(times).toHaveLength(1_000);
});
