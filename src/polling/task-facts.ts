import type { Task } from '../contract/task.ts';
import { newestTime } from '../metrics/samples.ts';
import { failureReason } from '../runtime/failures.ts';
import type { Failure, Response } from './poll.ts';

/**
 * Why a task is suspended, which means that it is polled at the discovery interval: the right or the licence is missing
 * (403), the object does not exist (404), the appliance does not support the request (422), or several responses had no
 * record while other series of the appliance have some.
 */
export const SUSPENSION_REASONS = ['forbidden', 'not_found', 'rejected', 'empty'] as const;

export type SuspensionReason = (typeof SUSPENSION_REASONS)[number];

/** What is known of one task. {@link observe} alone writes it. Moments are monotonic milliseconds, -Infinity for never. */
export interface TaskFacts {
  /** What the latest poll brought; undefined before the first. */
  readonly lastResult: (Response | Failure)['result'] | undefined;
  /** Polls in a row without a usable response: failed or denied. */
  readonly failures: number;
  /** When the first of these failures ended; infinite without one. */
  readonly failingSince: number;
  /** Polls in a row without a record. */
  readonly recordless: number;
  /** Rejections and empty responses in a row that may suspend the task. */
  readonly fruitless: number;
  readonly suspended: SuspensionReason | undefined;
  readonly respondedAt: number;
  readonly lastRecordsAt: number;
  /** The time of the newest record of the latest response with records, in epoch milliseconds. */
  readonly newestRecordMs: number | undefined;
  /** Whether values of the latest response are exposed. */
  readonly isExposed: boolean;
  /** The interval at the latest response, as the limits allowed it then. */
  readonly effectiveIntervalMs: number;
  /** When the latest poll ended, in epoch milliseconds. */
  readonly polledAt: number | undefined;
  /** Why the latest poll brought nothing. */
  readonly error: Error | undefined;
}

export const NOTHING_KNOWN: TaskFacts = {
  lastResult: undefined,
  failures: 0,
  failingSince: Number.POSITIVE_INFINITY,
  recordless: 0,
  fruitless: 0,
  suspended: undefined,
  respondedAt: Number.NEGATIVE_INFINITY,
  lastRecordsAt: Number.NEGATIVE_INFINITY,
  newestRecordMs: undefined,
  isExposed: false,
  effectiveIntervalMs: 0,
  polledAt: undefined,
  error: undefined,
};

/**
 * What changes the facts: a poll, a response that a previous process received, or time, which makes the values or the
 * counters too old.
 */
export type TaskEvent =
  | Response
  | Failure
  | { readonly result: 'restored'; readonly respondedAt: number }
  | { readonly result: 'stale' | 'forgotten' };

/** `now`: monotonic milliseconds. */
export interface Context {
  readonly task: Task;
  readonly now: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly intervalFactor: number;
  /** An empty response of an appliance that reports nothing says nothing about the series. */
  readonly applianceReports: boolean;
}

/** The first rejection may come from a gateway with a temporary failure, and one or two empty responses are chance. */
const SUSPENDED_AFTER = { denied: 2, empty: 3 } as const;

/** A task that is polled seldom anyway is suspended at once. */
const SELDOM_SUSPENDED_AFTER = 1;

/** The only function that changes what is known of a task. */
export function observe(facts: TaskFacts, event: TaskEvent, context: Context): TaskFacts {
  switch (event.result) {
    case 'records':
    case 'empty':
      return observeResponse(facts, event, context);
    case 'denied':
    case 'failed':
      return observeFailure(facts, event, context);
    case 'restored':
      return { ...facts, isExposed: true, respondedAt: event.respondedAt };
    case 'stale':
      return { ...facts, isExposed: false };
    case 'forgotten':
      return { ...facts, isExposed: false, respondedAt: Number.NEGATIVE_INFINITY };
  }
}

function observeResponse(facts: TaskFacts, { result, pollResult }: Response, context: Context): TaskFacts {
  const { task, now, at } = context;
  const respondedAt = pollResult.respondedAt ?? now;
  const isEmpty = result === 'empty';
  const newest = task.appliance && newestTime(pollResult.samples);
  const hadRecords = facts.lastRecordsAt > Number.NEGATIVE_INFINITY;
  const mayLackSeries = isEmpty && !hadRecords && (context.applianceReports || isSeldom(task));
  const fruitless = mayLackSeries ? facts.fruitless + 1 : 0;
  return {
    lastResult: result,
    failures: 0,
    failingSince: Number.POSITIVE_INFINITY,
    recordless: isEmpty ? facts.recordless + 1 : 0,
    fruitless,
    suspended: isEnough(task, fruitless, 'empty') ? 'empty' : undefined,
    respondedAt,
    lastRecordsAt: isEmpty ? facts.lastRecordsAt : respondedAt,
    newestRecordMs: newest === undefined ? facts.newestRecordMs : newest * 1000,
    isExposed: true,
    effectiveIntervalMs: task.intervalMs * context.intervalFactor,
    polledAt: at,
    error: undefined,
  };
}

function observeFailure(facts: TaskFacts, { result, error }: Failure, { task, now, at }: Context): TaskFacts {
  const isDenied = result === 'denied';
  const fruitless = isDenied ? facts.fruitless + 1 : facts.fruitless;
  const mayBeSuspended = isDenied && isEnough(task, fruitless, 'denied');
  return {
    ...facts,
    lastResult: result,
    failures: facts.failures + 1,
    failingSince: Math.min(facts.failingSince, now),
    recordless: facts.recordless + 1,
    fruitless,
    suspended: mayBeSuspended ? SUSPENSION_REASONS.find((reason) => reason === failureReason(error)) : facts.suspended,
    isExposed: facts.isExposed && !isDenied,
    polledAt: at,
    error,
  };
}

function isEnough(task: Task, fruitless: number, result: keyof typeof SUSPENDED_AFTER): boolean {
  if (task.suspendedIntervalMs === undefined || task.suspendedIntervalMs < task.intervalMs) return false;
  return fruitless >= (isSeldom(task) ? SELDOM_SUSPENDED_AFTER : SUSPENDED_AFTER[result]);
}

function isSeldom({ intervalMs, suspendedIntervalMs }: Task): boolean {
  return suspendedIntervalMs !== undefined && intervalMs >= suspendedIntervalMs;
}
