import { expect, test } from 'vitest';
import { callAfter, withTimeout } from '../../../src/runtime/clock.ts';
import { exponentialDelayMs, unitHash } from '../../../src/runtime/random.ts';
import { likelyTypo } from '../../../src/runtime/suggest.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

test('what takes too long is rejected, and what ends in time keeps no timer', async () => {
  const clock = new ManualClock();
  const late = withTimeout(new Promise(() => {}), clock, 1_000, () => new Error('late'));
  const failed = expect(late).rejects.toThrow('late');
  expect(await withTimeout(Promise.resolve(7), clock, 5_000, () => new Error('late'))).toBe(7);
  await clock.advance(1_000);
  await failed;
  expect(clock.sleeping).toBe(0);
});

test('a call that was cancelled does not come', async () => {
  const clock = new ManualClock();
  const called: string[] = [];
  callAfter(clock, 10, () => called.push('first'))();
  callAfter(clock, 10, () => called.push('second'));
  await clock.advance(10);
  expect(called).toEqual(['second']);
});

test('delays double up to the longest one, and differ by at most a half', () => {
  const delays = [1, 2, 3, 9].map((failures) => exponentialDelayMs({ firstMs: 100, maxMs: 1_000 }, failures, () => 1));
  expect(delays).toEqual([100, 200, 400, 1_000]);
  expect(exponentialDelayMs({ firstMs: 100 }, 1, () => 0)).toBe(50);
});

test('the phase of a name is the same on every machine, and phases are even', () => {
  expect(unitHash('portal/inventory')).toBeCloseTo(4_100_563_008 / 2 ** 32, 9);
  const tenths = new Array<number>(10).fill(0);
  for (let index = 0; index < 10_000; index += 1) {
    const tenth = Math.floor(unitHash(`portal/${index}/cpu_utilization`) * 10);
    tenths[tenth] = (tenths[tenth] ?? 0) + 1;
  }
  expect(Math.min(...tenths)).toBeGreaterThan(900);
});

test('a typing error finds the word that was meant, and another word finds none', () => {
  const words = ['PORTAL_INTERVAL', 'PORTAL_SERIES', 'GFA_INTERVAL'];
  expect(likelyTypo('PORTAL_INTERVALL', words)).toBe('PORTAL_INTERVAL');
  expect(likelyTypo('PROTAL_SERIES', words)).toBe('PORTAL_SERIES');
  // In a short word: a letter less or more, or two that changed places, and not both.
  const meant = ['crt', 'certs', 'cret', 'crets'].map((text) => likelyTypo(text, ['key', 'cert']));
  expect(meant).toEqual(['cert', 'cert', 'cert', undefined]);
  expect(likelyTypo('STATE_FILE', words)).toBeUndefined();
});
