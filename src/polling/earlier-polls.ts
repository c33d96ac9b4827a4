import type { Fleet } from './fleet.ts';
import type { PolledTask } from './polled-task.ts';
import type { TaskState } from './task-state.ts';

/**
 * Makes tasks due earlier, because of what the poll of another one has shown: for a rejection and for its end at most once
 * in a discovery interval. Moments are monotonic milliseconds.
 */
export class EarlierPolls {
  readonly #fleet: Fleet;
  #rejectedAt = Number.NEGATIVE_INFINITY;
  #acceptedAt = Number.NEGATIVE_INFINITY;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** Called after a poll; `before` was the state of its task. */
  afterPoll({ task, appliance, state }: PolledTask, before: TaskState, now: number): void {
    const { suspendedIntervalMs = 0, pollAlso = '' } = task;
    const wasRejected = before.lastResult === 'rejected';
    const isRejected = state.lastResult === 'rejected';
    const isFirstForbidden = appliance !== undefined && isRejected && !wasRejected && state.reason === 'forbidden';
    const isAccepted = wasRejected && state.lastResult === 'records';
    if (isFirstForbidden && now - this.#rejectedAt >= suspendedIntervalMs) {
      this.#rejectedAt = now;
      this.#fleet.find(pollAlso)?.hasten(now);
      this.#pollSeldomSeries(suspendedIntervalMs, now);
    }
    if (isAccepted && now - this.#acceptedAt >= suspendedIntervalMs) {
      this.#acceptedAt = now;
      this.#fleet.find(pollAlso)?.hasten(now);
      this.#pollSuspended(now);
    }
  }

  /**
   * A right or a licence is missing, probably for all series. Those with an interval longer than the discovery interval are
   * polled within half of the latter, so that it is soon known whether the service responds to any.
   */
  #pollSeldomSeries(discoveryIntervalMs: number, now: number): void {
    for (const polled of this.#fleet.tasks) {
      const isSeldomSeries = polled.appliance !== undefined && polled.task.intervalMs > discoveryIntervalMs;
      if (isSeldomSeries) polled.hasten(now + (polled.phase * discoveryIntervalMs) / 2);
    }
  }

  /** A gateway may have recovered, or a licence may have been bought: the other suspended tasks are polled soon. */
  #pollSuspended(now: number): void {
    for (const polled of this.#fleet.tasks) {
      if (polled.isRejected) polled.hasten(now + (polled.phase * polled.task.intervalMs) / 10);
    }
  }
}
