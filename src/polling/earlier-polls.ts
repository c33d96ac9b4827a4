import type { Task } from '../contract/task.ts';
import type { Fleet } from './fleet.ts';
import type { PolledAppliance, PolledTask } from './polled-task.ts';
import type { TaskState } from './task-state.ts';

/** The task that may explain a rejection is polled at most this often, in milliseconds. */
const EXPLANATION_INTERVAL_MS = 60_000;

/** Makes tasks due earlier, because of what the poll of another one has shown. Moments are monotonic milliseconds. */
export class EarlierPolls {
  readonly #fleet: Fleet;
  #resumedAt = Number.NEGATIVE_INFINITY;
  #rejectedAt = Number.NEGATIVE_INFINITY;
  #explainedAt = Number.NEGATIVE_INFINITY;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** Called after a poll; `before` was the state of its task. */
  afterPoll({ task, state }: PolledTask, before: TaskState, now: number): void {
    const wasDenied = before.lastResult === 'denied';
    const isDenied = state.lastResult === 'denied';
    if (wasDenied && state.lastResult === 'records') this.#resumeSuspended(task, now);
    if (!wasDenied && state.suspended === 'forbidden') this.#pollSeldomSeries(task, now);
    if (wasDenied !== isDenied && state.lastResult !== 'failed') this.#pollExplanation(task, now);
  }

  /** The appliance is up again, so its other series, also those with long intervals, are polled within half an interval. */
  afterRise({ tasks, intervalMs }: PolledAppliance, now: number): void {
    for (const polled of tasks) {
      const isMissing = polled.isPolled && polled.state.lastResult !== 'records';
      if (isMissing) polled.hasten(now + (polled.phase * intervalMs) / 2);
    }
  }

  /**
   * After records of a suspended task the other suspended tasks are polled soon, at most once in a discovery interval: a
   * gateway may have recovered, or a licence may have been bought.
   */
  #resumeSuspended({ suspendedIntervalMs = 0 }: Task, now: number): void {
    if (now - this.#resumedAt < suspendedIntervalMs) return;
    this.#resumedAt = now;
    for (const polled of this.#fleet.tasks) {
      const { suspended } = polled.state;
      const isRejected = suspended !== undefined && suspended !== 'empty';
      if (isRejected) polled.hasten(now + (polled.phase * polled.task.intervalMs) / 10);
    }
  }

  /**
   * A right or a licence is missing, probably for all series. Those with an interval longer than the discovery interval are
   * polled within half of the latter, so that it is soon known whether the service responds to any.
   */
  #pollSeldomSeries({ suspendedIntervalMs = 0 }: Task, now: number): void {
    if (now - this.#rejectedAt < suspendedIntervalMs) return;
    this.#rejectedAt = now;
    for (const polled of this.#fleet.tasks) {
      const isSeldomSeries = polled.appliance !== undefined && polled.task.intervalMs > suspendedIntervalMs;
      if (isSeldomSeries) polled.hasten(now + (polled.phase * suspendedIntervalMs) / 2);
    }
  }

  /** Polls the task that may explain a rejection, such as the licence, when the rejection begins and when it ends. */
  #pollExplanation({ pollAlso }: Task, now: number): void {
    const explanation = pollAlso === undefined ? undefined : this.#fleet.find(pollAlso);
    if (explanation === undefined || now - this.#explainedAt < EXPLANATION_INTERVAL_MS) return;
    this.#explainedAt = now;
    explanation.hasten(now);
  }
}
