import type { Api } from '../metrics/snapshot.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Appliances } from './appliances.ts';
import type { SeriesHealth } from './health.ts';
import type { Outcome } from './poll.ts';
import { reasonOf, type TaskState } from './task-state.ts';
import type { Tasks } from './tasks.ts';

export interface ObserverSettings {
  readonly api: Api;
  readonly tasks: Tasks;
  readonly appliances: Appliances;
  readonly health: SeriesHealth;
  /** Whether everything is held after a 429. */
  readonly isHeld: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The state of one API, derived from its polls: whether it is up, and why not. Each change of state, of the API, an
 * appliance or an operation, is one log line; while the API is down, that explains other failures.
 */
export class Observer {
  readonly #settings: ObserverSettings;
  readonly #denied = new Marks();
  readonly #failing = new Marks();
  #toldUp: boolean | undefined;
  #polledOnce = false;
  #succeeded = 0;
  #lastSuccessAt: number | undefined;

  constructor(settings: ObserverSettings) {
    this.#settings = settings;
  }

  /** Whether the API is up: the latest poll of a deciding task returned an answer that is still fresh. */
  get up(): boolean {
    const { tasks, health } = this.#settings;
    return !health.isDown && tasks.deciding.some(isWell);
  }

  /** Why the API is not up, one of `DOWN_REASONS`; undefined while it is, or before the first poll. */
  get downReason(): string | undefined {
    if (this.up) return undefined;
    if (this.#settings.isHeld()) return 'throttled';
    const error = this.#lastError;
    if (error !== undefined) return reasonOf(error);
    return this.#polledOnce ? 'overdue' : undefined;
  }

  /** The error of the latest failed poll while the API is down. */
  get lastError(): string | undefined {
    return this.up ? undefined : this.#lastError?.message;
  }

  /** Whether a deciding task has been polled, successfully or not. Once true it stays true. */
  get polledOnce(): boolean {
    return this.#polledOnce;
  }

  get succeeded(): number {
    return this.#succeeded;
  }

  /** Epoch milliseconds of the last successful poll. */
  get lastSuccessAt(): number | undefined {
    return this.#lastSuccessAt;
  }

  /** Processes the end of a poll, after its task's state was updated. */
  ended(state: TaskState, outcome: Outcome): void {
    const { appliances, clock, log } = this.#settings;
    const { task, seconds } = outcome;
    if (outcome.state === 'succeeded') {
      this.#succeeded += 1;
      this.#lastSuccessAt = clock.now();
      log.debug({ task: task.id, seconds, drops: Object.fromEntries(outcome.reading.drops) }, 'polled');
    } else log.debug({ task: task.id, seconds, reason: outcome.error.message }, 'poll failed');
    appliances.polled(state, outcome, clock.now());
    this.#tellApi();
    this.#tellAppliance(task.appliance?.serial);
    this.#tellOperation(state, outcome);
  }

  /** Processes a change of tasks. `hasChanged`: appliances were added or removed. */
  changed(gone: readonly TaskState[], hasChanged: boolean): void {
    const { log, api, appliances, tasks } = this.#settings;
    for (const { task } of gone) {
      this.#denied.leave(task.id);
      this.#failing.leave(task.id);
    }
    if (hasChanged) log.info({ api, appliances: appliances.size, tasks: tasks.size }, 'the inventory has changed');
  }

  /** Processes the end of storing a poll's result. */
  settled(): void {
    this.#polledOnce ||= this.#settings.tasks.deciding.some(({ standing }) => standing !== undefined);
  }

  /** A value is stale: its appliance, or the API, may be down. */
  expired({ task }: TaskState): void {
    this.#tellApi();
    this.#tellAppliance(task.appliance?.serial);
  }

  /** Storing a poll's result failed: a bug. Polling continues. */
  defect({ task }: TaskState, err: Error): void {
    this.#settings.log.error({ task: task.id, err }, 'internal error while storing a poll’s result; please report');
  }

  /** Of the deciding tasks; if none was polled yet, as after a rejected token, of any task. */
  get #lastError(): Error | undefined {
    const { tasks } = this.#settings;
    return latestError(tasks.deciding) ?? latestError(tasks.all());
  }

  #tellApi(): void {
    const { tasks, health, api, log, appliances } = this.#settings;
    const { up } = this;
    // Not before all were polled: until then it is normal that none has answered.
    const isDown = health.isDown || (!up && tasks.deciding.every(({ standing }) => standing !== undefined));
    if (up === this.#toldUp || !(up || isDown)) return;
    const wasTold = this.#toldUp !== undefined;
    this.#toldUp = up;
    if (up) log.info({ api }, wasTold ? 'the API answers again' : 'the API answers');
    else log.warn({ api, reason: this.downReason, err: this.#lastError }, 'the API cannot be polled');
    appliances.publishAll(!up);
  }

  #tellAppliance(serial: string | undefined): void {
    if (serial === undefined) return;
    const { appliances, log } = this.#settings;
    const change = appliances.publish(serial, this.#toldUp === false);
    if (change === undefined) return;
    const { name: filer, state, was } = change;
    if (state === 'reporting') {
      log.info({ serial, filer }, was === 'unavailable' ? 'the appliance answers' : 'the appliance has records again');
    } else if (state === 'no_records') log.warn({ serial, filer }, 'the appliance has no records');
    else log.warn({ serial, filer }, 'the appliance does not answer');
  }

  /** Logs one line when an operation is rejected or keeps failing, and one when none of its tasks is any more. */
  #tellOperation(state: TaskState, outcome: Outcome): void {
    const { log, api, appliances } = this.#settings;
    const { id, appliance, operation: name } = state.task;
    const isOfSeries = appliance !== undefined;
    const operation = isOfSeries && outcome.state === 'denied' ? 'series' : name;
    if (outcome.state === 'denied') {
      // A missing series is normal; a missing right is not.
      const isNews = !isOfSeries || state.error === undefined || reasonOf(state.error.cause) === 'forbidden';
      if (isNews && this.#denied.enter(operation, id)) {
        log.warn({ api, operation, err: outcome.error }, 'operation rejected; polled at the discovery interval');
      }
    } else if (outcome.state === 'succeeded') {
      const given = this.#denied.leave(id);
      if (given !== undefined) log.info({ api, operation: given }, 'operation available again');
    }
    if (outcome.state !== 'failed') {
      const recovered = this.#failing.leave(id);
      if (recovered !== undefined) log.info({ api, operation: recovered }, 'the operation can be polled again');
    } else if (this.#toldUp && state.failures > 1 && (!isOfSeries || appliances.isReporting(appliance.serial))) {
      if (this.#failing.enter(operation, id)) {
        log.warn({ api, operation, task: id, err: outcome.error }, 'the operation cannot be polled');
      }
    }
  }
}

function latestError(states: Iterable<TaskState>): Error | undefined {
  let latest: { readonly cause: Error; readonly at: number } | undefined;
  for (const { error } of states) {
    if (error !== undefined && (latest === undefined || error.at >= latest.at)) latest = error;
  }
  return latest?.cause;
}

/** The operations with a fault: from the first task with it until none is left. */
class Marks {
  readonly #operations = new Map<string, Set<string>>();

  /** Whether that is the first task of the operation. */
  enter(operation: string, task: string): boolean {
    const tasks = this.#operations.get(operation);
    if (tasks === undefined) this.#operations.set(operation, new Set([task]));
    else tasks.add(task);
    return tasks === undefined;
  }

  /** The operation, if that was its last task. */
  leave(task: string): string | undefined {
    for (const [operation, tasks] of this.#operations) {
      if (!tasks.delete(task) || tasks.size > 0) continue;
      this.#operations.delete(operation);
      return operation;
    }
    return undefined;
  }
}

/** Whether a task's latest result is valid: an answer, with or without records, that is still fresh. */
function isWell({ standing, isShown }: TaskState): boolean {
  return isShown && (standing === 'records' || standing === 'empty');
}
