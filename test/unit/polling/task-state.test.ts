import { expect, test } from 'vitest';
import type { Failure, Response } from '../../../src/polling/task-state.ts';
import { NEVER_POLLED, observe, type TaskEvent, type TaskState } from '../../../src/polling/task-state.ts';
import { minutes, noRecords, recordAt, records, status, suspendable, task } from './polling-run.ts';

const withRecords: Response = { result: 'records', pollResult: records };
const empty: Response = { result: 'empty', pollResult: noRecords };
const rejected = (code: number): Failure => ({ result: 'rejected', error: status(code) });
const failed: Failure = { result: 'failed', error: status(500) };
const often = task('a/s', suspendable);
const seldom = task('a/s', { ...suspendable, intervalMs: minutes(20) });

/** The states after each event, one millisecond apart. */
function statesOf(events: readonly TaskEvent[], more: Partial<Parameters<typeof observe>[2]> = {}): TaskState[] {
  let state = NEVER_POLLED;
  return events.map((event, index) => {
    const observation = { task: often, now: index + 1, intervalFactor: 1, isApplianceUp: true, othersRespondedAt: 0 };
    state = observe(state, event, { ...observation, ...more });
    return state;
  });
}

test.each([
  ['403, 403, 200', often, [rejected(403), rejected(403), withRecords], [undefined, 'forbidden', undefined]],
  ['404, failure, 404', often, [rejected(404), failed, rejected(404)], [undefined, undefined, 'not_found']],
  ['422 and failures after it', often, [rejected(422), rejected(422), failed], [undefined, 'rejected', 'rejected']],
  ['empty for ever', often, [empty, empty, empty], [undefined, undefined, 'empty']],
  ['empty after records', often, [withRecords, empty, empty, empty], [undefined, undefined, undefined, undefined]],
  ['403, where the interval is longer than that of the inventory', seldom, [rejected(403)], ['forbidden']],
  ['403 of a task that is never suspended', task('x'), [rejected(403), rejected(403)], [undefined, undefined]],
])('%s: suspended after each poll', (_, polled, events, expected) => {
  expect(statesOf(events, { task: polled }).map(({ suspended }) => suspended)).toEqual(expected);
});

test('empty responses of an appliance that is down say nothing about its series', () => {
  expect(statesOf([empty, empty, empty, empty], { isApplianceUp: false }).at(-1)?.suspended).toBeUndefined();
});

test('values stay after a failure, and leave after a rejection', () => {
  expect(statesOf([withRecords, failed, rejected(404)]).map(({ isExposed }) => isExposed)).toEqual([true, true, false]);
});

test('values of an earlier process are exposed, and are no success of this one', () => {
  const [state] = statesOf([{ result: 'restored', respondedAt: -5 }]);
  expect(state).toMatchObject({ isExposed: true, respondedAt: -5, lastResult: undefined });
  expect(state?.responses).toEqual(NEVER_POLLED.responses);
});

test('a second success counts after one failure, not after two, nor if it repeats an old record', () => {
  const record = (at: number): Response => ({ result: 'records', pollResult: recordAt(at) });
  const previousAt = (events: readonly TaskEvent[]) => statesOf(events).at(-1)?.records.previousAt;
  expect(previousAt([record(1_000), failed, record(2_000)])).toBe(1);
  expect(previousAt([record(1_000), failed, failed, record(2_000)])).toBe(Number.NEGATIVE_INFINITY);
  expect(previousAt([record(1_000), record(1_000)])).toBe(Number.NEGATIVE_INFINITY);
});

test('a task fails alone if others responded after its first failure; two responses in a row end the failure', () => {
  const events = [failed, failed, withRecords, withRecords];
  const states = statesOf(events, { othersRespondedAt: 1.5 });
  expect(states.map(({ failsAlone }) => failsAlone)).toEqual([false, true, true, false]);
  expect(states.map(({ failingSince }) => failingSince)).toEqual([1, 1, 1, Number.POSITIVE_INFINITY]);
  expect(statesOf(events, { othersRespondedAt: 0 })[1]?.failsAlone).toBe(false);
  // A single failure now and then does not count.
  expect(statesOf([failed, withRecords, failed], { othersRespondedAt: 1.5 }).at(-1)?.failsAlone).toBe(false);
});
