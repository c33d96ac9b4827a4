import type { Random } from '../runtime/random.ts';
import type { Outcome } from './poll.ts';
import type { PolledTask } from './polled-task.ts';

/**
 * Tasks with long intervals are repeated soon after a failure, in milliseconds, doubling up to their interval or the
 * longest; the inventory, as long as nothing else is polled without it, at least once a minute.
 */
const RETRY = { firstMs: 15_000, maxMs: 900_000, decidingMs: 60_000 } as const;

/**
 * After more failures in a row than this, a series is polled every second interval: that pays for the polls on which
 * verdicts wait. While the service is down it is polled only as a probe.
 */
const FAILING = { after: 2, intervals: 2 } as const;

/** A response that has to be confirmed is followed by the next poll after so long, in milliseconds. */
const CONFIRM_MS = 60_000;

/** The first moment after `now` on the grid `phase + n * interval`: an overrun waits for its next slot. */
export function nextSlot(now: number, intervalMs: number, phase: number): number {
  return phase + (Math.floor((now - phase) / intervalMs) + 1) * intervalMs;
}

interface Circumstances {
  readonly now: number;
  readonly random: Random;
  /** Whether the task decides if the service is up. */
  readonly decides: boolean;
  readonly isServiceUp: boolean;
}

/** When a task is polled next, after a poll that ended `now`. */
export function dueAfter(
  polled: PolledTask,
  outcome: Outcome,
  { now, random, decides, isServiceUp }: Circumstances,
): number {
  const { task, facts, appliance, phase } = polled;
  const { intervalMs } = task;
  const jitter = 0.9 + random() / 10;
  // The second record makes an appliance up again, and must not wait for a series that is polled seldom.
  if (outcome.result === 'records' && appliance?.records.isUp === false) return now + appliance.intervalMs * jitter;
  if (facts.suspended !== undefined) return now + (task.suspendedIntervalMs ?? intervalMs) * jitter;
  if ('pollResult' in outcome && outcome.pollResult.needsConfirmation) return now + Math.min(intervalMs, CONFIRM_MS);
  if (facts.lastResult === 'failed' && task.retriesBeforeSlot) {
    const maxMs = task.discoversTasks && decides ? RETRY.decidingMs : RETRY.maxMs;
    return now + Math.min(intervalMs, maxMs, RETRY.firstMs * 2 ** (facts.failures - 1)) * jitter;
  }
  if (facts.lastResult === 'failed' && facts.failures > FAILING.after && appliance !== undefined && isServiceUp)
    return now + FAILING.intervals * intervalMs * jitter;
  // Not sooner than half an interval: the first poll is immediate, and its grid may be just behind it.
  return nextSlot(now + intervalMs / 2, intervalMs, phase * intervalMs);
}
