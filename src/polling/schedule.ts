import type { PolledTask, TaskKind } from './polled-task.ts';
import type { Outcome } from './task-state.ts';

/** Tasks with long intervals are repeated soon after a failure: in milliseconds, doubling up to the longest time. */
const RETRY = {
  firstMs: 15_000,
  maxMs: 900_000,
  /** The longest time for the inventory while no appliance is known, because no series is polled without it. */
  maxDecidingMs: 60_000,
} as const;

/**
 * After more failures in a row than this, a series is polled every second interval: that pays for the polls on which
 * verdicts wait.
 */
const FAILING = { after: 2, intervals: 2 } as const;

/** A response that has to be confirmed is followed by the next poll after so long, in milliseconds. */
const CONFIRM_MS = 60_000;

/** A postponed task waits at least so long, in milliseconds. */
const MIN_POSTPONED_MS = 1_000;

/** The first moment after `now` on the grid `phase + n * interval`: an overrun waits for its next slot. */
function nextSlot(now: number, intervalMs: number, phase: number): number {
  return phase + (Math.floor((now - phase) / intervalMs) + 1) * intervalMs;
}

/** When a task is polled next, after a poll that ended `now`. `decides`: whether the task decides if the service is up. */
export function dueAfter(
  { task, state, appliance, phase }: PolledTask,
  outcome: Outcome,
  now: number,
  { decides, isServiceUp }: { readonly decides: boolean; readonly isServiceUp: boolean },
): number {
  const { intervalMs, suspendedIntervalMs = intervalMs } = task;
  const failures = state.responses.misses;
  if (outcome.result === 'postponed') return Math.max(outcome.until, now + MIN_POSTPONED_MS);
  // The second record makes an appliance up again, and must not wait for a series that is polled seldom.
  if (outcome.result === 'records' && appliance?.verdict.isUp === false) return now + appliance.intervalMs;
  if (state.suspended !== undefined) return now + Math.max(intervalMs, suspendedIntervalMs);
  if ('pollResult' in outcome && outcome.pollResult.needsConfirmation) return now + Math.min(intervalMs, CONFIRM_MS);
  if (outcome.result === 'failed' && task.retriesBeforeSlot) {
    const maxMs = task.discoversTasks && decides ? RETRY.maxDecidingMs : RETRY.maxMs;
    return now + Math.min(intervalMs, maxMs, RETRY.firstMs * 2 ** (failures - 1));
  }
  if (outcome.result === 'failed' && failures > FAILING.after && appliance !== undefined && isServiceUp)
    return now + FAILING.intervals * intervalMs;
  // At least half an interval passes: the first poll is immediate, and the task's next slot may follow at once.
  return nextSlot(now + intervalMs / 2, intervalMs, phase * intervalMs);
}

export function taskKind(polled: PolledTask): TaskKind {
  if (polled.isAwaited) return 'awaited';
  if (failuresOf(polled) > 0) return 'failing';
  return polled.task.priority ? 'priority' : 'well';
}

/**
 * Polls that may hang occupy this part of the workers at most: what hangs holds a worker until the time-out, so failing
 * tasks share a part of them.
 */
const FAILING_SHARE = 1 / 4;

/**
 * How long no failing task is polled after a failed poll of this duration. With fewer than four workers, one failing poll
 * is more than the share, and the pause makes up for it.
 */
export function pauseAfterFailure(workers: number, durationMs: number): number {
  return durationMs * Math.max(0, 1 / (workers * FAILING_SHARE) - 1);
}

export interface PickConditions {
  readonly workers: number;
  /** Until then no failing task is polled. */
  readonly failingPausedUntil: number;
  /** False while an outage of the service is probed. */
  readonly withSeries: boolean;
}

/**
 * The task that a free worker polls next, of those that are due; undefined if there is none. First come the inventory and
 * other tasks with priority, unless they fail, then those on which a verdict waits. Of the others, the task comes next that
 * is latest relative to its interval. Of the failing tasks only one is considered: one with priority, else the one that failed
 * least often.
 */
export function nextTask(
  tasks: Iterable<PolledTask>,
  now: number,
  { workers, failingPausedUntil, withSeries }: PickConditions,
): PolledTask | undefined {
  const next: { [kind in TaskKind]?: PolledTask } = {};
  const inFlight = { priority: 0, awaited: 0, well: 0, failing: 0 };
  for (const polled of tasks) {
    if (polled.inFlightAs !== undefined) inFlight[polled.inFlightAs] += 1;
    if (polled.dueAt > now || (polled.appliance !== undefined && !withSeries)) continue;
    const kind = taskKind(polled);
    const other = next[kind];
    if (other === undefined || precedes(polled, other, now)) next[kind] = polled;
  }
  const { priority, awaited, well } = next;
  if (priority !== undefined) return priority;
  // The last free worker is left to tasks that are well, because what is awaited may hang too.
  const mayAwait = inFlight.failing + inFlight.awaited < Math.max(1, workers - 1);
  if (awaited !== undefined && (mayAwait || well === undefined)) return awaited;
  const mayFail = inFlight.failing < Math.max(1, Math.floor(workers * FAILING_SHARE)) && now >= failingPausedUntil;
  const failing = mayFail ? next.failing : undefined;
  if (well === undefined || failing === undefined) return well ?? failing;
  return lateness(failing, now) > lateness(well, now) ? failing : well;
}

/** Whether a task comes before another one of the same kind. */
function precedes(polled: PolledTask, other: PolledTask, now: number): boolean {
  if (polled.task.priority !== other.task.priority) return polled.task.priority === true;
  const moreFailures = failuresOf(polled) - failuresOf(other);
  return moreFailures === 0 ? lateness(polled, now) > lateness(other, now) : moreFailures < 0;
}

/** The failures in a row of the task, or of any tasks of its appliance, whichever are more. A rejection is no failure. */
function failuresOf({ state, appliance }: PolledTask): number {
  const own = state.lastResult === 'failed' ? state.responses.misses : 0;
  return Math.max(own, appliance?.failuresInARow ?? 0);
}

function lateness({ dueAt, task }: PolledTask, now: number): number {
  return (now - dueAt) / task.intervalMs;
}

/** When the next task is due after now; infinite if there is none. What is due already waits for a worker. */
export function nextDueAt(tasks: Iterable<PolledTask>, now: number, withSeries: boolean): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { dueAt, appliance } of tasks) {
    if (dueAt > now && dueAt < next && (withSeries || appliance === undefined)) next = dueAt;
  }
  return next;
}

/**
 * The series that probes whether an outage is over: the one that responded last, because most series may never work, and
 * after each failure of that one the series that was polled longest ago. Undefined while a series is in flight.
 */
export function probeOf(tasks: Iterable<PolledTask>, now: number): PolledTask | undefined {
  let lastResponded: PolledTask | undefined;
  let lastPolled: PolledTask | undefined;
  let longestAgo: PolledTask | undefined;
  for (const polled of tasks) {
    const { appliance, inFlightAs, postponedUntil, state } = polled;
    if (appliance === undefined) continue;
    if (inFlightAs !== undefined) return undefined;
    if (postponedUntil > now) continue;
    if (state.responses.lastAt > (lastResponded?.state.responses.lastAt ?? Number.NEGATIVE_INFINITY))
      lastResponded = polled;
    if (state.polledAt > (lastPolled?.state.polledAt ?? Number.NEGATIVE_INFINITY)) lastPolled = polled;
    if (longestAgo === undefined || isBetterProbe(state, longestAgo.state)) longestAgo = polled;
  }
  if (lastResponded === undefined) return longestAgo;
  const hasJustFailed = lastResponded === lastPolled && lastResponded.state.responses.misses > 0;
  return hasJustFailed ? longestAgo : lastResponded;
}

function isBetterProbe(state: PolledTask['state'], other: PolledTask['state']): boolean {
  const [isSuspended, isOtherSuspended] = [state.suspended !== undefined, other.suspended !== undefined];
  return isSuspended === isOtherSuspended ? state.polledAt < other.polledAt : isOtherSuspended;
}
