import type { Clock } from '../runtime/clock.ts';
import { runInSlices } from '../runtime/slices.ts';
import type { Agenda } from './agenda.ts';
import type { Failure, Response } from './poll.ts';
import type { ApplianceTasks, PolledTask } from './polled-task.ts';
import type { TaskFacts } from './task-facts.ts';
import type { TaskRegistry } from './task-registry.ts';

/** The task that may explain a rejection is polled at most this often, in milliseconds. */
const EXPLANATION_INTERVAL_MS = 60_000;

/** Makes tasks due earlier, because of what the poll of another one has shown. Times are monotonic milliseconds. */
export class EarlierPolls {
  readonly #registry: TaskRegistry;
  readonly #agenda: Agenda;
  readonly #clock: Clock;
  readonly #placed: () => void;
  #wokenAt = Number.NEGATIVE_INFINITY;
  #explainedAt = Number.NEGATIVE_INFINITY;

  /** `placed` is called when tasks have become due earlier in a later turn than that of the poll. */
  constructor(registry: TaskRegistry, agenda: Agenda, clock: Clock, placed: () => void) {
    this.#registry = registry;
    this.#agenda = agenda;
    this.#clock = clock;
    this.#placed = placed;
  }

  /** Called after a poll; `before` is what was known of the task. */
  end({ task }: PolledTask, before: TaskFacts, { result }: Response | Failure, now: number): void {
    const wasDenied = before.lastResult === 'denied';
    if (wasDenied && result === 'records') this.#wakeSuspended(task.suspendedIntervalMs ?? 0, now);
    if (task.pollAlso !== undefined && result !== 'failed' && wasDenied !== (result === 'denied'))
      this.#pollRelated(task.pollAlso, now);
  }

  /**
   * The appliance reports again, so its other series, also those with long intervals, are polled within half an
   * interval.
   */
  applianceReports({ tasks, intervalMs }: ApplianceTasks, now: number): void {
    for (const polled of tasks) {
      const isMissing = polled.isPolled && polled.facts.lastResult !== 'records';
      if (isMissing) this.#agenda.placeEarlier(polled, now + (polled.phase * intervalMs) / 2);
    }
  }

  /**
   * A gateway has recovered, or a licence was bought, so other suspended tasks are polled too, at most once in a
   * discovery interval.
   */
  #wakeSuspended(atMostEveryMs: number, now: number): void {
    if (now - this.#wokenAt < atMostEveryMs) return;
    this.#wokenAt = now;
    const { suspended } = this.#registry;
    const agenda = this.#agenda;
    const wake = function* () {
      for (const polled of suspended.keys()) {
        if (polled.facts.suspended !== 'empty')
          agenda.placeEarlier(polled, now + (polled.phase * polled.task.intervalMs) / 10);
        yield;
      }
    };
    void runInSlices(wake(), this.#clock).then(this.#placed);
  }

  /** Polls the task that may explain a rejection, such as the licence. */
  #pollRelated(id: string, now: number): void {
    const related = this.#registry.get(id);
    if (related === undefined || now - this.#explainedAt < EXPLANATION_INTERVAL_MS) return;
    this.#explainedAt = now;
    this.#agenda.placeEarlier(related, now);
  }
}
