import type { Task } from '../metrics/task.ts';
import { CredentialError, RequestError } from '../runtime/errors.ts';
import type { Outcome } from './poll.ts';

/**
 * Why a task rests: the right or the licence is missing (403), there is no such thing (404), the request is not taken
 * for this appliance (422), or there was no record in several answers, while other series of the appliance have some.
 */
export const REST_REASONS = ['forbidden', 'not_found', 'rejected', 'empty'] as const;

/** One of {@link REST_REASONS}. */
export type RestReason = (typeof REST_REASONS)[number];

/** How the latest poll ended: with records, well but without any, denied, or not at all. */
export type Standing = 'records' | 'empty' | 'denied' | 'failed';

/** All that is known of one task from poll to poll; forgotten as one. Times are monotonic milliseconds. */
export interface TaskState {
  task: Task;
  /** Known since then. */
  readonly since: number;
  /** Undefined before the first poll has ended. */
  standing: Standing | undefined;
  /** Polls in a row that failed. */
  failures: number;
  /** Answers in a row that had nothing for us. */
  vain: number;
  resting: RestReason | undefined;
  /** Whether any answer ever had records. */
  hadRecords: boolean;
  /** Why the latest poll brought nothing; `at` in epoch milliseconds. */
  error: { readonly cause: Error; readonly at: number } | undefined;
  /** What it last brought is as new as this; undefined before it brought anything. */
  confirmedAt: number | undefined;
  /** The interval that was promised then, as the limits stretched it. */
  promisedMs: number;
  /** Whether what it brought is shown. */
  isShown: boolean;
  /** Whether it is still to be polled in this round. */
  isAwaited: boolean;
  /** The agenda's: when it is due, how often that was changed, whether it is under way. */
  due: number;
  version: number;
  isTaken: boolean;
  /** It left while it was under way. */
  isGone: boolean;
}

/** What is known of a task that has just come. */
export function newTaskState(task: Task, now: number): TaskState {
  return {
    ...{ task, since: now, standing: undefined, failures: 0, vain: 0, resting: undefined, hadRecords: false },
    ...{ error: undefined, confirmedAt: undefined, promisedMs: task.intervalMs, isShown: false, isAwaited: false },
    ...{ due: now, version: 0, isTaken: false, isGone: false },
  };
}

/** Takes in how a poll ended. `now` is monotonic, `at` epoch milliseconds; `stretched`: what the limits make of an interval. */
export function note(state: TaskState, outcome: Outcome, now: number, at: number, stretched: number): void {
  if (outcome.state === 'succeeded') {
    const { empty, answeredAt } = outcome.reading;
    state.standing = empty ? 'empty' : 'records';
    state.hadRecords ||= !empty;
    state.error = undefined;
    state.confirmedAt = answeredAt ?? now;
    state.promisedMs = state.task.intervalMs * stretched;
    state.isShown = true;
  } else if (outcome.state !== 'aborted') {
    state.standing = outcome.state;
    // What is denied is not there; what only failed is shown while it is fresh.
    if (outcome.state === 'denied') state.isShown = false;
    state.error = { cause: outcome.error, at };
  }
  state.failures = state.standing === 'failed' ? state.failures + 1 : 0;
}

/** So many answers without a record in a row, and a series rests. */
const EMPTY_BEFORE_REST = 3;

/** So many denials in a row, and a task rests: the first may be a gateway's that knows no better for a moment. */
const DENIED_BEFORE_REST = 2;

/**
 * Suspends a task without data, and ends that when data comes; after {@link note}. A series that ever had
 * records does not rest for having none, nor one of an appliance that has none at all: that is off, and will be on again.
 */
export function restOrWake(state: TaskState, isReporting: boolean): void {
  const { task, standing } = state;
  const reason = standing === 'empty' ? 'empty' : standing === 'denied' ? denialOf(state.error?.cause) : undefined;
  if (standing === 'failed') return;
  state.vain = reason === undefined ? 0 : state.vain + 1;
  const usual = reason === 'empty' ? EMPTY_BEFORE_REST : DENIED_BEFORE_REST;
  // What is asked slowly anyway, as a series that does not fit the build, rests with its first such answer.
  const isEnough = state.vain >= (task.intervalMs === task.restMs ? 1 : usual);
  const mayRest = task.restMs !== undefined && task.restMs >= task.intervalMs;
  const isOff = reason === 'empty' && (state.hadRecords || !isReporting);
  state.resting = isEnough && mayRest && !isOff ? reason : undefined;
}

function denialOf(error: Error | undefined): RestReason {
  const status = error instanceof RequestError ? error.status : undefined;
  if (status === 403) return 'forbidden';
  return status === 404 ? 'not_found' : 'rejected';
}

/** In one word why polls bring nothing; the label `reason` of `filer_api_down_info`. */
export const DOWN_REASONS = [
  ...['credentials', 'throttled', 'forbidden', 'not_found', 'rejected', 'server_error'],
  ...['timeout', 'network', 'invalid', 'oversize'],
] as const;

/** The reason that an error is. */
export function reasonOf(error: Error): string {
  if (error instanceof CredentialError) {
    const { cause } = error;
    // The token service may be in trouble as any other; what refuses a key is no 5xx.
    const isTrouble = cause instanceof RequestError && !(cause.status !== undefined && cause.status < 429);
    return isTrouble ? reasonOf(cause) : 'credentials';
  }
  if (!(error instanceof RequestError)) return 'invalid';
  const { status } = error;
  if (status === undefined) return error.fault;
  if (status === 401) return 'credentials';
  if (status === 429) return 'throttled';
  if (status >= 500) return 'server_error';
  return denialOf(error);
}
