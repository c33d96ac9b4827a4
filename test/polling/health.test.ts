import { describe, expect, test } from 'vitest';
import type { Task } from '../../src/contract/task.ts';
import { SeriesHealth } from '../../src/polling/health.ts';
import { TaskState } from '../../src/polling/task-state.ts';
import { CredentialError } from '../../src/runtime/errors.ts';
import { answered, failed, fleet, inventory, minutes, succeeded, task } from './fleet.ts';

const health = (random = 0.5) => new SeriesHealth(10, () => random);
const refused = new CredentialError('refused');
const states = (tasks: readonly Task[]): readonly TaskState[] => tasks.map((each) => new TaskState(each, 0));
const large = states(fleet(100, 15));

/** One that went down at 0, by refused credentials. */
function down(random = 0.5): SeriesHealth {
  const state = health(random);
  fail(state, large[0], 0, refused);
  expect(state.isDown).toBe(true);
  return state;
}

function fail(
  of: SeriesHealth,
  state: TaskState | undefined,
  now = 0,
  error: Error = answered(503),
  all = large,
): void {
  if (state !== undefined) of.observe(state, failed(state.task, error), all, now);
}

function answer(of: SeriesHealth, state: TaskState | undefined, now = 0): void {
  if (state !== undefined) of.observe(state, succeeded(state.task), large, now);
}

describe('the series of an API are down', () => {
  test('once every appliance was asked in vain, and not before', () => {
    const state = health();
    answer(state, large[0], -minutes(5));
    const [last, ...others] = large.filter(({ task: { operation } }) => operation === 's0').toReversed();
    for (const one of others) fail(state, one);
    expect(state.isDown).toBe(false);
    fail(state, last);
    expect(state.isDown).toBe(true);
  });

  test('not while one appliance of a hundred answers now and then', () => {
    const state = health();
    answer(state, large[7 * 15], 0);
    for (let round = 0; round < 5; round += 1) {
      for (const one of large) {
        if (one.task.appliance?.serial === 'a7') answer(state, one, minutes(5 * round));
        else fail(state, one, minutes(5 * round));
      }
    }
    expect(state.isDown).toBe(false);
  });

  test('not within a fifth of an interval of an answer, however few appliances there are', () => {
    const all = states(fleet(2, 5));
    const state = health();
    answer(state, all[0], 0);
    for (let time = 0; time < 60_000; time += 1_000) for (const one of all) fail(state, one, time, answered(503), all);
    expect(state.isDown).toBe(false);
    fail(state, all[0], 60_000, answered(503), all);
    expect(state.isDown).toBe(true);
  });

  test('after so many failures where nothing ever answered', () => {
    const state = health();
    for (const one of large.slice(0, 9)) fail(state, one);
    expect(state.isDown).toBe(false);
    fail(state, large[9]);
    expect(state.isDown).toBe(true);
  });

  test('not by what is asked about the account, whatever comes of it', () => {
    const state = health();
    const one = new TaskState(inventory, 0);
    for (let poll = 0; poll < 50; poll += 1) state.observe(one, failed(inventory), large, poll);
    expect(state.isDown).toBe(false);
    const later = down();
    later.observe(one, succeeded(inventory), large, 10);
    expect(later.isDown).toBe(true);
  });

  test('not by appliances of which everything rests', () => {
    const all = states(fleet(2, 5));
    for (const one of all) if (one.task.appliance?.serial === 'a1') one.backedOff = 'not_found';
    const state = health();
    answer(state, all[0], -minutes(5));
    for (const one of all.slice(0, 5)) fail(state, one, 0, answered(503), all);
    for (const one of all.slice(0, 5)) fail(state, one, 1, answered(503), all);
    expect(state.isDown).toBe(true);
  });

  test('at once when the credentials are refused, by whatever poll', () => {
    const state = health();
    state.observe(new TaskState(inventory, 0), failed(inventory, refused), large, 0);
    expect(state.isDown).toBe(true);
  });
});

describe('while they are down', () => {
  test('one probe goes out at a time', () => {
    const state = down();
    expect(state.waitMs(0)).toBe(2_000);
    expect(state.waitMs(2_000)).toBe(0);
    const [probe] = large;
    if (probe) state.starting(probe);
    expect(state.waitMs(9e9)).toBe(Number.POSITIVE_INFINITY);
    fail(state, probe, 3_000);
    expect(state.waitMs(3_000)).toBe(4_000);
  });

  test('probes come less and less often, up to the longest pause', () => {
    const state = down();
    const [probe] = large;
    const waits: number[] = [];
    for (let count = 0; count < 7; count += 1) {
      waits.push(state.waitMs(0));
      if (probe) state.starting(probe);
      fail(state, probe, 0);
    }
    expect(waits).toEqual([2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });

  test('a small fleet is probed no oftener than it would be asked in health', () => {
    const all = states([task('a/s')]);
    const state = health();
    fail(state, all[0], 0, refused, all);
    expect(state.waitMs(0)).toBe(minutes(5));
  });

  test.each([
    [0, 1_500],
    [0.5, 2_000],
    [0.999_999, 2_500],
  ])('the pause varies by a quarter, so that a hundred exporters do not come back together (%d)', (random, ms) => {
    expect(down(random).waitMs(0)).toBeCloseTo(ms, 0);
  });

  test.each([
    [0, 5_000],
    [0.999_999, 6_000],
  ])('no probe goes out before one can be sent, after a pause for refused credentials (%d)', (random, ms) => {
    const state = health(random);
    fail(state, large[0], 0, new CredentialError('refused', { pausedUntil: 5_000 }));
    expect(state.waitMs(0)).toBeCloseTo(ms, 0);
  });

  test('polls that were under way when it went down neither end the probe nor lengthen the pause', () => {
    const state = down();
    for (const one of large.slice(1, 9)) fail(state, one, 500);
    expect(state.waitMs(500)).toBe(1_500);
    const [probe, late] = large.slice(20);
    if (probe) state.starting(probe);
    fail(state, late, 2_500);
    expect(state.waitMs(2_500)).toBe(Number.POSITIVE_INFINITY);
  });

  test('the first answer about any appliance ends it, and one that something is absent is an answer', () => {
    const state = down();
    answer(state, large[5], 10);
    expect(state.isDown).toBe(false);
    const denied = down();
    const [one] = large;
    if (one) denied.observe(one, failed(one.task, answered(403), 'denied'), large, 0);
    expect(denied.isDown).toBe(false);
  });

  test('what comes and goes is probed no oftener each time, and from the start after an interval of health', () => {
    const state = down();
    const [probe] = large;
    for (let count = 0; count < 4; count += 1) {
      if (probe) state.starting(probe);
      fail(state, probe, 0);
    }
    answer(state, probe, 1_000);
    answer(state, probe, 1_500);
    fail(state, probe, 2_000, refused);
    expect(state.waitMs(2_000)).toBe(30_000);
    answer(state, probe, 3_000);
    answer(state, probe, minutes(30));
    fail(state, probe, minutes(31), refused);
    expect(state.waitMs(minutes(31))).toBe(2_000);
  });

  test('a probe given up leaves room for the next', () => {
    const state = down();
    const [probe] = large;
    if (probe === undefined) throw new Error('no fleet');
    state.starting(probe);
    state.observe(probe, failed(probe.task, new Error('stopping'), 'aborted'), large, 2_000);
    expect(state.waitMs(2_000)).toBe(0);
  });
});
