import { describe, expect, test } from 'vitest';
import { AccountThrottling, ThrottledKeys } from '../../../../src/transport/rate/throttled.ts';

const DAY_MS = 86_400_000;

/** Plays responses one second apart, such as `a-` for a 429 about a and `b+` for an accepted request. Returns who waits alone. */
function aloneAfter(responses: string): string {
  const throttled = new ThrottledKeys();
  let now = 0;
  for (const response of responses.split(' ')) {
    now += 1_000;
    const key = response.slice(0, -1);
    if (response.endsWith('+')) throttled.recordAccepted(key, now - 100);
    else throttled.recordThrottled(key, now - 100, now, 3_600_000);
  }
  return ['a', 'b', 'c'].filter((key) => throttled.waitUntil(key, now) !== undefined).join('');
}

describe('an appliance is throttled alone', () => {
  test.each([
    ['a- b+ a-', 'a', 'after its second 429 in a row, if others are accepted between'],
    ['a- b+ a- b+ a-', 'a', 'as long as it is not accepted itself'],
    ['a- b- c+ a- c+ a- c+ b- c+ b-', 'ab', 'after its third 429 among accepted requests, if others get a 429 too'],
  ])('%s: %s, %s', (responses, alone) => {
    expect(aloneAfter(responses)).toBe(alone);
  });

  test.each([
    ['a-', 'after one 429'],
    ['a- a- a-', 'while nothing else is accepted'],
    ['a- b+ a+ a-', 'if one of its requests was accepted between'],
    ['a- b+ c- b+ a-', 'if another one got a 429 between, because it may be a coincidence'],
    ['a- b+ a- a+', 'once it is accepted again'],
  ])('not %s: %s', (responses) => {
    expect(aloneAfter(responses)).toBe('');
  });

  test('not after several 429s for requests that were in flight together', () => {
    const throttled = new ThrottledKeys();
    throttled.recordThrottled('a', 0, 100);
    throttled.recordAccepted('b', 150);
    expect(throttled.recordThrottled('a', 50, 200)).toBe(false);
    expect(throttled.recordThrottled('a', 300, 400)).toBe(true);
  });

  test('and is forgotten a day after its last 429, because it may have left the inventory', () => {
    const throttled = new ThrottledKeys();
    for (let day = 0; day < 100; day += 1) {
      for (let index = 0; index < 10; index += 1)
        throttled.recordThrottled(`${day} ${index}`, day * DAY_MS, day * DAY_MS);
    }
    expect(throttled.size).toBeLessThanOrEqual(20);
  });
});

describe('an account is throttled', () => {
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

  test('if more than one request in twenty is rejected, at whatever rate', () => {
    expect([isThrottledAfter([5, 1]), isThrottledAfter([6, 1])]).toEqual([false, true]);
  });

  test('if 429s keep the rate below half of the configured one, and not if it is low for another reason', () => {
    expect([[3, 0.4] as const, [3, 0.6] as const, [2, 0.4] as const].map((window) => isThrottledAfter(window))).toEqual(
      [true, false, false],
    );
  });

  test('until ten minutes with half as many rejections, and while nothing is accepted', () => {
    expect([isThrottledAfter([6, 1], [4, 1]), isThrottledAfter([6, 1], [2, 1])]).toEqual([true, false]);
    const throttling = new AccountThrottling();
    for (let at = 0; at < 1_800_000; at += 100_000) throttling.recordResponse(true, 0, at);
    for (let at = 1_800_000; at < 36_000_000; at += 3_600_000) throttling.recordResponse(true, 0, at);
    expect(throttling.isThrottled).toBe(true);
  });
});
