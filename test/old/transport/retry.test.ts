import { describe, expect, test } from 'vitest';
import type { RequestPurpose } from '../../src/runtime/error-table.ts';
import { CredentialError, RequestError, type RequestErrorReason, SchemaError } from '../../src/runtime/errors.ts';
import { retryDelayMs, withRetries } from '../../src/transport/retry.ts';
import fc from '../support/fast-check.ts';
import { ManualClock, settle } from '../support/manual-clock.ts';

const status = (code: number) => new RequestError('status', `answered ${code}`, { status: code });
const fault = (name: RequestErrorReason) => new RequestError(name, name);

/** How often it is tried again when it goes on failing alike. */
function retries(error: unknown, kind: RequestPurpose): number {
  if (error instanceof RequestError) error.purpose = kind;
  let attempts = 1;
  while (retryDelayMs(error, attempts, () => 0) !== undefined) attempts += 1;
  return attempts - 1;
}

describe('how often a failure is tried again: a read that changes nothing, and GET /data', () => {
  test.each<[string, unknown, number, number]>([
    ['no connection', fault('network'), 2, 1],
    ['a time-out', fault('timeout'), 0, 0],
    ['a body that is not JSON', fault('invalid'), 0, 0],
    ['a body too large', fault('oversize'), 0, 0],
    ['stopping', fault('aborted'), 0, 0],
    ['400', status(400), 0, 0],
    ['401, which the client of the API handles', status(401), 0, 0],
    ['408, which needs a shorter period', status(408), 0, 0],
    ['413, which needs another request', status(413), 0, 0],
    ['429, not at once for GET /data', status(429), 2, 0],
    ['500', status(500), 1, 1],
    ['502', status(502), 2, 1],
    ['503', status(503), 2, 1],
    ['504', status(504), 2, 1],
    ['an unexpected shape', new SchemaError('expected a list'), 0, 0],
    ['refused credentials', new CredentialError('refused'), 0, 0],
    ['a defect', new TypeError('undefined is not a function'), 0, 0],
  ])('%s', (_, error, series, data) => {
    expect({ series: retries(error, 'read'), data: retries(error, 'events') }).toEqual({ series, data });
  });
});

test('the wait doubles from half a second, each time between half and the whole of it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 }), fc.double({ min: 0, max: 0.999, noNaN: true }), (attempts, random) => {
      const delayMs = retryDelayMs(fault('network'), attempts, () => random) ?? Number.NaN;
      const whole = 500 * 2 ** (attempts - 1);
      expect(delayMs).toBeGreaterThanOrEqual(whole / 2);
      expect(delayMs).toBeLessThanOrEqual(whole);
    }),
  );
});

/** Fails with these in turn, then succeeds. */
function failing(...errors: readonly unknown[]) {
  const left = [...errors];
  const asked: number[] = [];
  const clock = new ManualClock();
  const attempt = () => {
    asked.push(clock.monotonic());
    return left.length === 0 ? Promise.resolve('answer') : Promise.reject(left.shift());
  };
  return { clock, asked, attempt, retryParts: { clock, random: () => 0 } };
}

describe('trying again', () => {
  const never = new AbortController().signal;

  test('two failures in passing cost three quarters of a second at least, and then there is an answer', async () => {
    const { clock, asked, attempt, retryParts } = failing(fault('network'), status(503));
    const answer = withRetries(attempt, retryParts, never);
    await clock.advance(10_000);
    expect(await answer).toBe('answer');
    expect(asked).toEqual([0, 250, 750]);
  });

  test('what returned 429 goes ahead of what waits, and what failed does not', async () => {
    const { clock, attempt, retryParts } = failing(status(429), status(503));
    const ahead: boolean[] = [];
    const ask = (wasThrottled: boolean) => {
      ahead.push(wasThrottled);
      return attempt();
    };
    const answer = withRetries(ask, retryParts, never);
    await clock.advance(10_000);
    expect([await answer, ahead]).toEqual(['answer', [false, true, false]]);
  });

  test('failures of several kinds count together', async () => {
    const { clock, asked, attempt, retryParts } = failing(status(503), status(500), status(503));
    const answer = expect(withRetries(attempt, retryParts, never)).rejects.toThrow('answered 500');
    await clock.advance(10_000);
    await answer;
    expect(asked).toHaveLength(2);
  });

  test('after a stop nothing is tried again', async () => {
    const { clock, asked, attempt, retryParts } = failing(fault('network'));
    const stopping = new AbortController();
    stopping.abort();
    await expect(withRetries(attempt, retryParts, stopping.signal)).rejects.toThrow('network');
    expect([asked.length, clock.sleeping]).toEqual([1, 0]);
  });

  test('a stop ends the wait at once', async () => {
    const { clock, attempt, retryParts } = failing(fault('network'));
    const stopping = new AbortController();
    const answer = withRetries(attempt, retryParts, stopping.signal);
    await settle();
    expect(clock.sleeping).toBe(1);
    stopping.abort();
    await answer;
    expect([clock.sleeping, clock.monotonic()]).toEqual([0, 0]);
  });
});
