import { describe, expect, test } from 'vitest';
import { ApiHealth, type HealthSettings } from '../../src/polling/health.ts';
import { CredentialError } from '../../src/runtime/errors.ts';
import { answered, dataTask, failed, fleet, inventory, succeeded, task } from './fleet.ts';

const settings: HealthSettings = { failures: 10, appliances: 3, probe: { firstMs: 2_000, longestMs: 30_000 } };
const large = { appliances: 100, tasks: 1_500 };
const health = (random = 0.5, how = settings) => new ApiHealth(how, () => random);
const refused = new CredentialError('refused');

/** A health that went down at 0, by refused credentials. */
function down(random = 0.5): ApiHealth {
  const state = health(random);
  expect(state.observe(failed(task('a/s'), refused), large, 0)).toBe('went down');
  return state;
}

describe('an API goes down', () => {
  test('after so many failures in a row of so many appliances', () => {
    const state = health();
    const turns = fleet(10, 1).map((each) => state.observe(failed(each), large, 0));
    expect(turns).toEqual([...Array(9).fill(undefined), 'went down']);
    expect([state.down, state.probing]).toEqual([true, true]);
  });

  test.each<[string, number, number]>([
    ['of two appliances of a hundred are their own fault', 2, 5],
    ['of three appliances, but too few, are none yet', 3, 3],
  ])('not alike: failures %s', (_, appliances, series) => {
    const state = health();
    for (const each of fleet(appliances, series)) expect(state.observe(failed(each), large, 0)).toBeUndefined();
    expect(state.down).toBe(false);
  });

  test('not while some succeed in between, and not where something is absent', () => {
    const state = health();
    for (const each of fleet(100, 1)) {
      state.observe(failed(each), large, 0);
      if (each.id.endsWith('0/s0')) state.observe(failed(each, answered(404), 'absent'), large, 0);
    }
    expect(state.down).toBe(false);
  });

  test('not because one series of the only appliance fails', () => {
    const state = health();
    const one = { appliances: 1, tasks: 16 };
    for (let sweep = 0; sweep < 20; sweep += 1) {
      expect(state.observe(failed(task('a/broken')), one, sweep)).toBeUndefined();
      state.observe(succeeded(task('a/fine')), one, sweep);
    }
  });

  test.each<[string, number, number]>([
    ['one appliance of three series', 1, 3],
    ['two appliances of one series', 2, 1],
  ])('once all there is has failed: %s', (_, appliances, series) => {
    const state = health();
    const tasks = fleet(appliances, series);
    const turns = tasks.map((each) => state.observe(failed(each), { appliances, tasks: tasks.length }, 0));
    expect(turns.at(-1)).toBe('went down');
    expect(turns.slice(0, -1).every((turn) => turn === undefined)).toBe(true);
  });

  test('with the first poll when the inventory is all there is', () => {
    expect(health().observe(failed(inventory), { appliances: 0, tasks: 1 }, 0)).toBe('went down');
  });

  test('at once when the credentials are refused', () => {
    expect(health().observe(failed(task('a/s'), refused), large, 0)).toBe('went down');
  });

  test('without holding anything back where it has no probe, as the file acceleration service', () => {
    const state = health(0.5, { failures: 1, appliances: 1, probe: undefined });
    expect(state.observe(failed(dataTask), { appliances: 0, tasks: 1 }, 0)).toBe('went down');
    expect([state.down, state.probing, state.waitMs(0)]).toEqual([true, false, 0]);
    state.starting(dataTask);
    expect(state.observe(failed(dataTask), { appliances: 0, tasks: 1 }, 1)).toBeUndefined();
    expect(state.waitMs(1)).toBe(0);
    expect(state.observe(succeeded(dataTask), { appliances: 0, tasks: 1 }, 2)).toBe('went up');
  });
});

describe('while it is down', () => {
  test('one probe goes out at a time', () => {
    const state = down();
    expect(state.waitMs(0)).toBe(2_000);
    expect(state.waitMs(2_000)).toBe(0);
    state.starting(task('a/probe'));
    expect(state.waitMs(9e9)).toBeUndefined();
    state.observe(failed(task('a/probe')), large, 3_000);
    expect(state.waitMs(3_000)).toBe(4_000);
  });

  test('probes come less and less often, up to the longest pause', () => {
    const state = down();
    const waits: (number | undefined)[] = [];
    for (let probe = 0; probe < 7; probe += 1) {
      waits.push(state.waitMs(0));
      state.starting(task('a/probe'));
      state.observe(failed(task('a/probe')), large, 0);
    }
    expect(waits).toEqual([2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
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
    state.observe(failed(task('a/s'), new CredentialError('refused', { pausedUntil: 5_000 })), large, 0);
    expect(state.waitMs(0)).toBeCloseTo(ms, 0);
  });

  test('a pause that is shorter than the wait changes nothing', () => {
    const state = health();
    state.observe(failed(task('a/s'), new CredentialError('refused', { pausedUntil: 1_000 })), large, 0);
    expect(state.waitMs(0)).toBe(2_000);
  });

  test('polls that were under way when it went down neither end the probe nor lengthen the pause', () => {
    const state = down();
    for (const each of fleet(8, 1)) state.observe(failed(each), large, 500);
    expect(state.waitMs(500)).toBe(1_500);
    state.starting(task('a/probe'));
    state.observe(failed(task('a0/late')), large, 2_500);
    expect(state.waitMs(2_500)).toBeUndefined();
  });

  test('the first success of any poll brings it up, and the next outage begins from the start', () => {
    const state = down();
    state.starting(task('a/probe'));
    expect(state.observe(succeeded(task('b/late')), large, 10)).toBe('went up');
    expect([state.down, state.waitMs(10)]).toEqual([false, 0]);
    expect(state.observe(succeeded(task('a/probe')), large, 20)).toBeUndefined();
    expect(state.observe(failed(task('a/s'), refused), large, 1_000)).toBe('went down');
    expect(state.waitMs(1_000)).toBe(2_000);
  });

  test('an answer that something is absent is an answer', () => {
    expect(down().observe(failed(task('a/s'), answered(403), 'absent'), large, 0)).toBe('went up');
  });

  test('a probe given up leaves room for the next', () => {
    const state = down();
    state.starting(task('a/probe'));
    expect(state.observe(failed(task('a/probe'), new Error('stopping'), 'aborted'), large, 2_000)).toBeUndefined();
    expect(state.waitMs(2_000)).toBe(0);
  });
});
