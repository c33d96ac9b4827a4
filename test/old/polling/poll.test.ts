import { expect, test } from 'vitest';
import { poll } from '../../src/polling/poll.ts';
import { RequestError, SchemaError } from '../../src/runtime/errors.ts';
import fc from '../support/fast-check.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { answered, minutes, records, task } from './fleet.ts';

const onwards = new AbortController().signal;
const failing = (error: unknown, backOffMs?: number) =>
  task('a/s', {
    poll: () => Promise.reject(error),
    ...(backOffMs === undefined ? {} : { suspendedIntervalMs: backOffMs }),
  });

test('a poll that brings something has succeeded, after so many seconds', async () => {
  const clock = new ManualClock();
  const slow = task('a/s', { poll: () => clock.sleep(1_500).then(() => records) });
  const outcome = poll(slow, onwards, clock);
  await clock.advance(2_000);
  expect(await outcome).toEqual({ result: 'records', pollResult: records, seconds: 1.5 });
});

test('the system clock stepping back does not make a poll take less than no time', async () => {
  const clock = new ManualClock();
  const outcome = poll(task('a/s', { poll: () => clock.sleep(500).then(() => records) }), onwards, clock);
  clock.step(-minutes(60));
  await clock.advance(500);
  expect((await outcome).seconds).toBe(0.5);
});

test.each<[string, unknown, number | undefined, string]>([
  ['403', answered(403), minutes(15), 'denied'],
  ['404', answered(404), minutes(15), 'denied'],
  ['422, as where a series does not fit the build', answered(422), minutes(15), 'denied'],
  ['403 of a task that never rests', answered(403), undefined, 'failed'],
  ['500', answered(500), minutes(15), 'failed'],
  ['a time-out', new RequestError('timeout', 'too late'), minutes(15), 'failed'],
  ['an unexpected shape', new SchemaError('expected a list'), minutes(15), 'failed'],
  ['a defect', new TypeError('undefined'), minutes(15), 'failed'],
  ['stopping', new RequestError('aborted', 'stopping'), minutes(15), 'aborted'],
])('%s', async (_, error, backOffMs, result) => {
  const outcome = await poll(failing(error, backOffMs), onwards, new ManualClock());
  expect(outcome).toMatchObject({ result, error, seconds: 0 });
});

test('a poll never rejects, whatever is thrown and however', async () => {
  await fc.assert(
    fc.asyncProperty(fc.anything({ withNullPrototype: true }), fc.boolean(), async (thrown, atOnce) => {
      const throwing = () => {
        throw thrown;
      };
      const broken = atOnce ? task('a/s', { poll: throwing }) : failing(thrown);
      expect((await poll(broken, onwards, new ManualClock())).result).toBe('failed');
    }),
  );
});
