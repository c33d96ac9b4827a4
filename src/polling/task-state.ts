import type { Task } from '../contract/task.ts';
import { newestTime } from '../metrics/samples.ts';
import { failureReason } from '../runtime/error-policy.ts';
import type { Outcome } from './poll.ts';

/**
 * Why a task is backed off: the right or the licence is missing (403), the object does not exist (404), the appliance
 * does not support the request (422), or several answers had no record while other series of the appliance have some.
 */
export const BACK_OFF_REASONS = ['forbidden', 'not_found', 'rejected', 'empty'] as const;

export type BackOffReason = (typeof BACK_OFF_REASONS)[number];

/** `denied`: answered 403, 404 or 422. */
export type Standing = 'records' | 'empty' | 'denied' | 'failed';

/** Everything known about one task from poll to poll; forgotten together. Monotonic milliseconds unless said. */
export class TaskState {
  task: Task;
  readonly addedAt: number;
  readonly appliance: PolledAppliance | undefined;
  standing: Standing | undefined;
  /** Failed polls in a row. */
  failures = 0;
  /** Answers and rejections without a record in a row. */
  withoutRecords = 0;
  backedOff: BackOffReason | undefined;
  /** Whether the latest answer had records; when one last had, and the time of the newest one, in epoch milliseconds. */
  hasRecords = false;
  reportedAt: number | undefined;
  recordAt: number | undefined;
  /** When the first of the polls without records in a row began, and the first error; undefined after an answer with records. */
  silence: { readonly since: number; readonly cause: Error | undefined } | undefined;
  askedAt = Number.NEGATIVE_INFINITY;
  /** The time of the latest poll, in epoch milliseconds, and why it returned nothing. */
  polledAt: number | undefined;
  error: Error | undefined;
  fault: Fault | undefined;
  /** The time of its latest result. */
  confirmedAt: number | undefined;
  /** The interval that applied then, as stretched by the limits. */
  promisedMs = 0;
  /** Whether that result is exposed. */
  isShown = false;
  /** When it is due; undefined while it is in flight. */
  due: number | undefined;
  /** Even while it is still in flight. */
  isGone = false;

  constructor(task: Task, now: number, appliance?: PolledAppliance) {
    this.task = task;
    this.addedAt = now;
    this.appliance = appliance;
  }
}

/** An operation that is rejected or keeps failing: from its first such task until none is left. */
export interface Fault {
  readonly operation: string;
  readonly isDenied: boolean;
}

/** The state of an appliance: it has records, the portal answers without records, or not at all. See `verdict.ts`. */
export type ApplianceState = 'reporting' | 'no_records' | 'unavailable';

export class PolledAppliance {
  readonly serial: string;
  name: string;
  readonly tasks = new Set<TaskState>();
  /** Failed polls in a row, of any of its tasks. */
  failures = 0;
  /** What is exposed of it; undefined before it has a state. `recordAt`: of its newest record, in epoch milliseconds. */
  shown: { readonly name: string; readonly state: ApplianceState; readonly recordAt: number | undefined } | undefined;
  logged: ApplianceState | undefined;

  constructor(serial: string, name: string) {
    this.serial = serial;
    this.name = name;
  }
}

/** `now` is monotonic, `at` epoch milliseconds; `stretched`: by how much the limits stretch intervals. */
export function recordOutcome(state: TaskState, outcome: Outcome, now: number, at: number, stretched: number): void {
  const { task, appliance } = state;
  if (outcome.state === 'aborted') return;
  state.polledAt = at;
  state.askedAt = now - outcome.seconds * 1000;
  if (outcome.state === 'succeeded') {
    const { empty, respondedAt, samples } = outcome.reading;
    state.standing = empty ? 'empty' : 'records';
    state.hasRecords = !empty;
    if (!empty) state.reportedAt = respondedAt ?? now;
    const newest = appliance && newestTime(samples);
    if (newest !== undefined) state.recordAt = Math.max(newest * 1000, state.recordAt ?? 0);
    state.error = undefined;
    state.confirmedAt = respondedAt ?? now;
    state.promisedMs = task.intervalMs * stretched;
    state.isShown = true;
  } else {
    state.standing = outcome.state;
    // A rejection removes the values; after a failure they stay while fresh.
    if (outcome.state === 'denied') state.isShown = false;
    state.error = outcome.error;
  }
  if (state.standing === 'records') state.silence = undefined;
  else state.silence = { since: state.silence?.since ?? state.askedAt, cause: state.silence?.cause ?? state.error };
  if (state.standing === 'failed') state.failures += 1;
  else {
    state.failures = 0;
    backOffOrResume(state);
  }
  if (appliance !== undefined) appliance.failures = state.failures === 0 ? 0 : appliance.failures + 1;
}

const EMPTY_BEFORE_BACK_OFF = 3;

/** Rejections in a row before a task is backed off: the first may come from a gateway with a temporary fault. */
const DENIED_BEFORE_BACK_OFF = 2;

/** A series that ever had records is not backed off for having none, nor one of an appliance that is off. */
function backOffOrResume(state: TaskState): void {
  const { task, standing, appliance } = state;
  const told = standing === 'empty' ? 'empty' : standing === 'denied' ? failureReason(state.error) : undefined;
  const reason = BACK_OFF_REASONS.find((one) => one === told);
  state.withoutRecords = reason === undefined ? 0 : state.withoutRecords + 1;
  const usual = reason === 'empty' ? EMPTY_BEFORE_BACK_OFF : DENIED_BEFORE_BACK_OFF;
  // A task with a long interval anyway, such as a series that does not exist for the build, is backed off after the
  // first such answer.
  const isSeldom = task.intervalMs === task.suspendedIntervalMs;
  const isEnough = state.withoutRecords >= (isSeldom ? 1 : usual);
  const mayBackOff = task.suspendedIntervalMs !== undefined && task.suspendedIntervalMs >= task.intervalMs;
  const mayBeOff = state.reportedAt !== undefined || ![...(appliance?.tasks ?? [])].some(isReporting);
  state.backedOff = isEnough && mayBackOff && (reason !== 'empty' || isSeldom || !mayBeOff) ? reason : undefined;
}

/** Whether its latest answer had records, and is still fresh. */
export function isReporting({ isShown, hasRecords }: TaskState): boolean {
  return isShown && hasRecords;
}
