import type { Task } from '../metrics/task.ts';
import { CredentialError, RequestError } from '../runtime/errors.ts';
import type { Outcome } from './poll.ts';

/**
 * Why a task is backed off: the right or the licence is missing (403), the object does not exist (404), the appliance
 * does not support the request (422), or several answers had no record while other series of the appliance have some.
 */
export const REST_REASONS = ['forbidden', 'not_found', 'rejected', 'empty'] as const;

export type RestReason = (typeof REST_REASONS)[number];

/** The result of the latest poll: records, an answer without records, a rejection, or a failure. */
export type Standing = 'records' | 'empty' | 'denied' | 'failed';

/** Everything known about one task from poll to poll; forgotten together. Times are monotonic milliseconds. */
export interface TaskState {
  task: Task;
  /** When it was added. */
  readonly since: number;
  /** Undefined before the first poll has ended. */
  standing: Standing | undefined;
  /** Failed polls in a row. */
  failures: number;
  /** Answers in a row without a record. */
  vain: number;
  resting: RestReason | undefined;
  /** Whether any answer had records. */
  hadRecords: boolean;
  /** Why the latest poll returned nothing; `at` in epoch milliseconds. */
  error: { readonly cause: Error; readonly at: number } | undefined;
  /** The time of its latest result; undefined before the first. */
  confirmedAt: number | undefined;
  /** The interval that applied then, as stretched by the limits. */
  promisedMs: number;
  /** Whether its result is exposed. */
  isShown: boolean;
  /** Whether it is still to be polled in this round. */
  isAwaited: boolean;
  /** For the agenda: when it is due, how often that changed, whether it is in flight. */
  due: number;
  version: number;
  isTaken: boolean;
  /** It was removed while in flight. */
  isGone: boolean;
}

/** The initial state of a task. */
export function newTaskState(task: Task, now: number): TaskState {
  return {
    ...{ task, since: now, standing: undefined, failures: 0, vain: 0, resting: undefined, hadRecords: false },
    ...{ error: undefined, confirmedAt: undefined, promisedMs: task.intervalMs, isShown: false, isAwaited: false },
    ...{ due: now, version: 0, isTaken: false, isGone: false },
  };
}

/**
 * Updates the state after a poll. `now` is monotonic, `at` epoch milliseconds; `stretched`: the factor by which the
 * limits stretch intervals.
 */
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
    // A rejection removes the values; after a failure they stay while fresh.
    if (outcome.state === 'denied') state.isShown = false;
    state.error = { cause: outcome.error, at };
  }
  state.failures = state.standing === 'failed' ? state.failures + 1 : 0;
}

/** Answers without a record in a row before a series is backed off. */
const EMPTY_BEFORE_REST = 3;

/** Rejections in a row before a task is backed off: the first may come from a gateway with a temporary fault. */
const DENIED_BEFORE_REST = 2;

/**
 * Backs off a task without data, and ends that when data arrives; after {@link note}. A series that ever had records is
 * not backed off for having none, nor is one of an appliance without any records, which is off and will be on again.
 */
export function restOrWake(state: TaskState, isReporting: boolean): void {
  const { task, standing } = state;
  const reason = standing === 'empty' ? 'empty' : standing === 'denied' ? denialOf(state.error?.cause) : undefined;
  if (standing === 'failed') return;
  state.vain = reason === undefined ? 0 : state.vain + 1;
  const usual = reason === 'empty' ? EMPTY_BEFORE_REST : DENIED_BEFORE_REST;
  // A task with a long interval anyway, such as a series that does not exist for the build, is backed off after the
  // first such answer.
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

/** Why polls return nothing; the label `reason` of `filer_api_down_info`. */
export const DOWN_REASONS = [
  ...['credentials', 'throttled', 'forbidden', 'not_found', 'rejected', 'server_error'],
  ...['timeout', 'network', 'invalid', 'oversize'],
] as const;

/** The statuses that mean a rejected key (upstream-api.md 3.1). */
const REFUSALS: ReadonlySet<number | undefined> = new Set([400, 401, 403, 422]);

export function reasonOf(error: Error): string {
  if (error instanceof CredentialError) {
    const { cause } = error;
    // The token service can fail like any other.
    return cause instanceof RequestError && !REFUSALS.has(cause.status) ? reasonOf(cause) : 'credentials';
  }
  if (!(error instanceof RequestError)) return 'invalid';
  const { status } = error;
  if (status === undefined) return error.fault;
  if (status === 401) return 'credentials';
  if (status === 429) return 'throttled';
  if (status >= 500) return 'server_error';
  return denialOf(error);
}
