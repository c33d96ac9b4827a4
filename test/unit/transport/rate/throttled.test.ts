import { expect, test } from 'vitest';
import { AccountThrottling, ThrottledKeys } from '../../../../src/transport/rate/throttled.ts';

/** Plays responses a second apart: `a-` is a 429 about a, `b+` an accepted request. Returns the keys that wait alone. */
function aloneAfter(responses: string): string {
  const throttled = new ThrottledKeys();
  let now = 0;
  for (const [key = '', outcome] of responses.split(' ')) {
    now += 1_000;
    if (outcome === '+') throttled.recordAccepted(key, now - 100);
    else throttled.recordThrottled(key, now - 100, now, 3_600_000);
  }
  return ['a', 'b', 'c'].filter((key) => throttled.admit(key, now) !== undefined).join('');
}

test.each([
  ['a- b+ a-', 'a', 'is throttled alone after its second 429, if another one is accepted between'],
  ['a- b+ a- b+ a-', 'a', 'stays so until it is accepted itself'],
  ['a- b+ a- a+', '', 'is not throttled any more when it is accepted'],
  ['a- a- a-', '', 'is not throttled alone while nothing else is accepted'],
  ['a- c- b+ a- a-', '', 'is not throttled alone by 429s in a row while nothing else is accepted'],
  ['a- b+ a+ a-', '', 'is not throttled alone if it was accepted between'],
  ['a- b+ c- b+ a-', '', 'is not throttled alone if another one got a 429 between, because it may be a coincidence'],
  ['a- b- c+ a- c+ a- c+ b- c+ b-', 'ab', 'is throttled alone after its third 429 among accepted requests in any case'],
])('after %s, "%s" waits alone: a key %s', (responses, alone) => {
  expect(aloneAfter(responses)).toBe(alone);
});

test('a key is not throttled alone because requests that were in flight together got a 429', () => {
  const throttled = new ThrottledKeys();
  throttled.recordThrottled('a', 0, 100);
  throttled.recordAccepted('b', 50);
  expect([throttled.recordThrottled('a', 50, 200), throttled.recordThrottled('a', 300, 400)]).toEqual([false, false]);
  throttled.recordAccepted('b', 450);
  expect([throttled.recordThrottled('a', 350, 500), throttled.recordThrottled('a', 600, 700)]).toEqual([false, true]);
});

test('a key is forgotten a day after its last 429, because its appliance may have left the inventory', () => {
  const throttled = new ThrottledKeys();
  for (let day = 0; day < 100; day += 1) throttled.recordThrottled(`${day}`, day * 86_400_000, day * 86_400_000);
  expect(throttled.size).toBe(1);
});

/** Windows of a hundred requests: how many were rejected, and at which share of the configured rate they were sent. */
function isThrottledAfter(...windows: readonly (readonly [rejected: number, rateShare: number])[]): boolean {
  const throttling = new AccountThrottling();
  for (const [index, [rejected, rateShare]] of [...windows, [0, 1] as const].entries()) {
    for (let request = 0; request < 100; request += 1) {
      throttling.recordResponse(request < rejected, rateShare, 600_000 * index + request);
    }
  }
  return throttling.isThrottled;
}

test('an account is throttled if more than one request in twenty is rejected, or if 429s keep the rate below half', () => {
  expect([5, 6].map((rejected) => isThrottledAfter([rejected, 1]))).toEqual([false, true]);
  expect([0.6, 0.5, 0.4].map((rateShare) => isThrottledAfter([3, rateShare]))).toEqual([false, false, true]);
  expect(isThrottledAfter([2, 0.4])).toBe(false);
});

test('an account is throttled until ten minutes with half as many rejections, and while nothing is accepted', () => {
  expect([isThrottledAfter([6, 1], [4, 1]), isThrottledAfter([6, 1], [2, 1])]).toEqual([true, false]);
  const throttling = new AccountThrottling();
  for (let at = 0; at < 1_800_000; at += 100_000) throttling.recordResponse(true, 0, at);
  for (let at = 1_800_000; at < 36_000_000; at += 3_600_000) throttling.recordResponse(true, 0, at);
  expect(throttling.isThrottled).toBe(true);
});
