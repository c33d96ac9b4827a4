import type { PollResult } from '../contract/poll-result.ts';
import type { Task } from '../contract/task.ts';
import { newestTime } from '../metrics/samples.ts';
import { PostponedError, RequestError } from '../runtime/errors.ts';
import { type FailureReason, failureReason, meaningOf } from '../runtime/failures.ts';
import type { Successes } from './verdict.ts';

/** A usable response. `empty`: it has no record. */
export interface Response {
  readonly result: 'records' | 'empty';
  readonly pollResult: PollResult;
}

/** `rejected`: 403, 404 or 422, which is no failure of the appliance. */
export interface Failure {
  readonly result: 'rejected' | 'failed';
  readonly error: Error;
}

/** Nothing was learned. `postponed`: the request may be sent at `until`. `aborted`: the program is stopping. */
type NoOutcome = { readonly result: 'postponed'; readonly until: number } | { readonly result: 'aborted' };

/** What came of a poll. */
export type Outcome = Response | Failure | NoOutcome;

/** What a poll that ended with this error means for its task. */
export function outcomeOf(error: Error, { suspendedIntervalMs }: Task): Failure | NoOutcome {
  if (error instanceof PostponedError) return { result: 'postponed', until: error.until };
  if (error instanceof RequestError && error.reason === 'aborted') return { result: 'aborted' };
  const isRejected = suspendedIntervalMs !== undefined && meaningOf(error).action === 'suspend';
  return { result: isRejected ? 'rejected' : 'failed', error };
}

/**
 * Why a task is suspended, which means that it is polled at the discovery interval: the right or the licence is missing
 * (403), the object does not exist (404), the appliance does not support the request (422), or several responses had no
 * record while other series of the appliance have some.
 */
export const SUSPENSION_REASONS = ['forbidden', 'not_found', 'rejected', 'empty'] as const;

export type SuspensionReason = (typeof SUSPENSION_REASONS)[number];

/** What is known of one task. {@link observe} alone writes it. Moments are monotonic milliseconds, -Infinity for never. */
export interface TaskState {
  /** What the latest poll brought; undefined before the first. */
  readonly lastResult: (Response | Failure)['result'] | undefined;
  /** When the latest poll ended. */
  readonly polledAt: number;
  /** Usable responses, also those without a record. The misses are the failures in a row. */
  readonly responses: Successes;
  /** Responses with records. */
  readonly records: Successes;
  /** When the first of the latest failures ended; infinite after two responses in a row. */
  readonly failingSince: number;
  /**
   * Whether it then failed again, although its appliance, or for other tasks the service, had responded to others
   * meanwhile: then it is the task that fails. A single failure now and then does not count.
   */
  readonly failsAlone: boolean;
  /** Rejections and empty responses in a row that may suspend the task; a failure between two of them changes nothing. */
  readonly fruitless: number;
  readonly suspended: SuspensionReason | undefined;
  /** The time of the newest record of the latest response with records, in epoch milliseconds. */
  readonly newestRecordMs: number | undefined;
  /** When the response with the latest values arrived, which may have been in an earlier process. */
  readonly respondedAt: number;
  /** Whether these values are exposed. */
  readonly isExposed: boolean;
  /** The effective interval when they arrived. */
  readonly effectiveIntervalMs: number;
  /** Why the latest poll brought nothing. */
  readonly error: Error | undefined;
  readonly reason: FailureReason | undefined;
}

const NO_SUCCESS: Successes = {
  lastAt: Number.NEGATIVE_INFINITY,
  previousAt: Number.NEGATIVE_INFINITY,
  misses: 0,
};

export const NEVER_POLLED: TaskState = {
  lastResult: undefined,
  polledAt: Number.NEGATIVE_INFINITY,
  responses: NO_SUCCESS,
  records: NO_SUCCESS,
  failingSince: Number.POSITIVE_INFINITY,
  failsAlone: false,
  fruitless: 0,
  suspended: undefined,
  newestRecordMs: undefined,
  respondedAt: Number.NEGATIVE_INFINITY,
  isExposed: false,
  effectiveIntervalMs: 0,
  error: undefined,
  reason: undefined,
};

/**
 * What changes a state: a poll, values that an earlier process received, or time, which makes the values or the counters
 * too old.
 */
export type TaskEvent =
  | Response
  | Failure
  | { readonly result: 'restored'; readonly respondedAt: number }
  | { readonly result: 'stale' | 'forgotten' };

export interface Observation {
  readonly task: Task;
  /** Monotonic milliseconds. */
  readonly now: number;
  readonly intervalFactor: number;
  /** Whether the appliance is up: an empty response of one that is off says nothing about the series. */
  readonly isApplianceUp: boolean;
  /** When another task of its appliance, or of the service, last succeeded. */
  readonly othersRespondedAt: number;
}

/** The first rejection may come from a gateway with a temporary failure, and one or two empty responses are chance. */
const SUSPENDED_AFTER = { rejected: 2, empty: 3 } as const;

/** A task whose interval is not shorter than the discovery interval is suspended at once: a second poll would come late. */
const SELDOM_SUSPENDED_AFTER = 1;

/** The only function that changes what is known of a task. */
export function observe(state: TaskState, event: TaskEvent, observation: Observation): TaskState {
  switch (event.result) {
    case 'records':
    case 'empty':
      return observeResponse(state, event, observation);
    case 'rejected':
    case 'failed':
      return observeFailure(state, event, observation);
    case 'restored':
      // This is no success: what an earlier process received does not show that the service responds now.
      return { ...state, isExposed: true, respondedAt: event.respondedAt };
    case 'stale':
      return { ...state, isExposed: false };
    case 'forgotten':
      return { ...state, isExposed: false, respondedAt: Number.NEGATIVE_INFINITY };
  }
}

function observeResponse(state: TaskState, { result, pollResult }: Response, observation: Observation): TaskState {
  const { task, now, intervalFactor, isApplianceUp } = observation;
  const isEmpty = result === 'empty';
  const isSecondResponse = state.responses.misses === 0;
  const newest = task.appliance && newestTime(pollResult.samples);
  const newestRecordMs = newest === undefined ? state.newestRecordMs : newest * 1000;
  // Records without a time count as new.
  const isNew = newestRecordMs === undefined || newestRecordMs > (state.newestRecordMs ?? 0);
  const hadRecords = state.records.lastAt > Number.NEGATIVE_INFINITY;
  const fruitless = isEmpty && !hadRecords && isApplianceUp ? state.fruitless + 1 : 0;
  return {
    lastResult: result,
    polledAt: now,
    responses: withSuccess(state.responses, now, true),
    records: isEmpty ? withMiss(state.records) : withSuccess(state.records, now, isNew),
    failingSince: isSecondResponse ? Number.POSITIVE_INFINITY : state.failingSince,
    failsAlone: state.failsAlone && !isSecondResponse,
    fruitless,
    suspended: suspends(task, fruitless, 'empty') ? 'empty' : undefined,
    newestRecordMs,
    respondedAt: pollResult.respondedAt ?? now,
    isExposed: true,
    effectiveIntervalMs: task.intervalMs * intervalFactor,
    error: undefined,
    reason: undefined,
  };
}

function observeFailure(state: TaskState, { result, error }: Failure, observation: Observation): TaskState {
  const { task, now, othersRespondedAt } = observation;
  const isRejected = result === 'rejected';
  const isAlone = !isRejected && state.responses.misses > 0 && othersRespondedAt > state.failingSince;
  const fruitless = isRejected ? state.fruitless + 1 : state.fruitless;
  const reason = failureReason(error);
  const isSuspended = isRejected && suspends(task, fruitless, 'rejected');
  return {
    ...state,
    lastResult: result,
    polledAt: now,
    responses: withMiss(state.responses),
    records: withMiss(state.records),
    failingSince: Math.min(state.failingSince, now),
    failsAlone: state.failsAlone || isAlone,
    fruitless,
    suspended: isSuspended ? SUSPENSION_REASONS.find((one) => one === reason) : state.suspended,
    isExposed: state.isExposed && !isRejected,
    error,
    reason,
  };
}

function withSuccess({ lastAt, misses }: Successes, now: number, isNew: boolean): Successes {
  return { lastAt: now, previousAt: isNew && misses <= 1 ? lastAt : Number.NEGATIVE_INFINITY, misses: 0 };
}

function withMiss(successes: Successes): Successes {
  return { ...successes, misses: successes.misses + 1 };
}

function suspends(
  { intervalMs, suspendedIntervalMs }: Task,
  fruitless: number,
  result: keyof typeof SUSPENDED_AFTER,
): boolean {
  if (suspendedIntervalMs === undefined) return false;
  return fruitless >= (intervalMs >= suspendedIntervalMs ? SELDOM_SUSPENDED_AFTER : SUSPENDED_AFTER[result]);
}
