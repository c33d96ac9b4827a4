import { beforeEach, describe, expect, test } from 'vitest';
import { suspendAwareClock, systemClock } from '../../src/runtime/clock.ts';
import { runInSlices, runInTurn, runToEnd } from '../../src/runtime/slices.ts';

describe('the machine’s clock', () => {
  test.each([[0], [-5], [1]])('%d ms of sleep end', async (ms) => {
    expect(await systemClock.sleep(ms)).toBeUndefined();
  });

  test.each([[60_000], [2 ** 40], [Number.POSITIVE_INFINITY]])(
    '%d ms of sleep end when aborted, not before',
    async (ms) => {
      const stopping = new AbortController();
      let awake = false;
      const sleep = systemClock.sleep(ms, stopping.signal).then(() => {
        awake = true;
      });
      await systemClock.sleep(2);
      expect(awake).toBe(false);
      stopping.abort();
      await sleep;
    },
  );

  test('nobody falls asleep after a stop', async () => {
    expect(await systemClock.sleep(60_000, AbortSignal.abort())).toBeUndefined();
  });
});

describe('a monotonic clock on a machine that sleeps', () => {
  /** Two clocks of one machine, in milliseconds: the one stands while it sleeps, the other, read coarsely, goes on. */
  function machine() {
    let [running, booted] = [5_000, 90_000];
    const clock = suspendAwareClock(
      () => running,
      () => Math.floor(booted / 10) * 10,
    );
    return {
      runs: (ms: number) => {
        running += ms;
        booted += ms;
        return clock();
      },
      sleeps: (ms: number) => {
        booted += ms;
      },
    };
  }

  test('goes on by the hours that the machine slept, and by nothing while it is awake', () => {
    const { runs, sleeps } = machine();
    expect([runs(0), runs(500), runs(59_503)]).toEqual([5_000, 5_500, 65_003]);
    sleeps(6 * 3_600_000);
    expect(runs(1_000)).toBeCloseTo(66_003 + 6 * 3_600_000, -2);
    sleeps(60_000);
    expect(runs(1_000)).toBeCloseTo(67_003 + 6 * 3_600_000 + 60_000, -2);
  });

  test('never goes backwards, however coarse the other clock is', () => {
    const { runs } = machine();
    let before = runs(0);
    for (let step = 0; step < 5_000; step += 1) {
      const now = runs((step * 37) % 101);
      expect(now).toBeGreaterThanOrEqual(before);
      before = now;
    }
  });
});

/** Work of so many steps, each of which takes `msPerStep` on the clock that comes with it. */
function slow(steps: number, msPerStep: number) {
  let now = 0;
  function* work(): Generator<void, string> {
    for (let step = 0; step < steps; step += 1) {
      now += msPerStep;
      yield;
    }
    return 'done';
  }
  return { work: work(), clock: { ...systemClock, monotonic: () => now } };
}

describe('work in slices', () => {
  // The work of the test before used up a part of this turn.
  beforeEach(() => new Promise<void>((resolve) => void setImmediate(resolve)));

  test.each([
    [100, 0, 0],
    [4, 1, 1],
    [80, 1, 26],
    [10, 20, 10],
  ])('%d steps of %d ms give the event loop back %d times', async (steps, msPerStep, times) => {
    const { work, clock } = slow(steps, msPerStep);
    let turns = 0;
    let over = false;
    const others = () => {
      turns += 1;
      if (!over) setImmediate(others);
    };
    setImmediate(others);
    expect(await runInSlices(work, clock)).toBe('done');
    over = true;
    expect(turns).toBe(times);
  });

  test('two works that begin in one turn occupy it for no longer than one', async () => {
    const first = slow(40, 1);
    const second = slow(40, 1);
    const both = [first, second].map(({ work, clock }) => runInSlices(work, clock));
    expect([first, second].map(({ clock }) => clock.monotonic())).toEqual([3, 0]);
    let turns = 0;
    const count = () => {
      turns += 1;
      if (turns < 50) setImmediate(count);
    };
    setImmediate(count);
    expect(await Promise.all(both)).toEqual(['done', 'done']);
    expect(turns).toBeLessThanOrEqual(28);
  });

  test('short works that come at once share the turns too', async () => {
    let now = 0;
    const clock = { ...systemClock, monotonic: () => now };
    const work = () => {
      now += 2;
      return now;
    };
    const all = Array.from({ length: 10 }, () => runInTurn(work, clock));
    // The third finds the 3 ms of this turn used up, and two share each of the next turns.
    expect(now).toBe(4);
    let turns = 0;
    const others = () => {
      turns += 1;
      if (now < 20) setImmediate(others);
    };
    setImmediate(others);
    expect(await Promise.all(all)).toEqual(Array.from({ length: 10 }, (_, index) => 2 * (index + 1)));
    expect(turns).toBe(3);
  });

  test('what it throws is thrown, in slices or at once', async () => {
    function* broken(): Generator<void, never> {
      yield;
      throw new RangeError('broken');
    }
    await expect(runInSlices(broken(), systemClock)).rejects.toThrow('broken');
    expect(() => runToEnd(broken())).toThrow('broken');
  });

  test('at once it gives the same', () => {
    expect(runToEnd(slow(3, 50).work)).toBe('done');
  });
});
