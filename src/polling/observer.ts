import type { Api } from '../metrics/snapshot.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Appliances } from './appliances.ts';
import type { SeriesHealth } from './health.ts';
import type { Outcome } from './poll.ts';
import { reasonOf, type TaskState } from './task-state.ts';
import type { Tasks } from './tasks.ts';

/** What an observer needs. */
export interface ObserverSettings {
  readonly api: Api;
  readonly tasks: Tasks;
  readonly appliances: Appliances;
  readonly health: SeriesHealth;
  /** Whether everything is held after a refusal. */
  readonly isHeld: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * What the polls of one API say about it: whether it is up and why not. Each change of state, of the API, an appliance or
 * an operation, is one line of the log; while the API is down, it explains what else fails.
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

  /** Whether the API gives what is asked of it: the latest poll of what decides brought an answer that is still fresh. */
  get up(): boolean {
    const { tasks, health } = this.#settings;
    return !health.isDown && tasks.deciding.some(isWell);
  }

  /** In a word why the API is not up, one of `DOWN_REASONS`; undefined while it is, or nothing was asked yet. */
  get downReason(): string | undefined {
    if (this.up) return undefined;
    if (this.#settings.isHeld()) return 'throttled';
    const error = this.#lastError;
    if (error !== undefined) return reasonOf(error);
    return this.#polledOnce ? 'overdue' : undefined;
  }

  /** Why the latest poll that failed did, while the API is down. */
  get lastError(): string | undefined {
    return this.up ? undefined : this.#lastError?.message;
  }

  /** Whether what decides has been polled, with or without success. Once true it stays so. */
  get polledOnce(): boolean {
    return this.#polledOnce;
  }

  /** How many polls have succeeded. */
  get succeeded(): number {
    return this.#succeeded;
  }

  /** Epoch milliseconds of the last poll that succeeded. */
  get lastSuccessAt(): number | undefined {
    return this.#lastSuccessAt;
  }

  /** A poll ended, and its task's state says so. */
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

  /** The tasks are others. `hasChanged`: appliances came or went. */
  changed(gone: readonly TaskState[], hasChanged: boolean): void {
    const { log, api, appliances, tasks } = this.#settings;
    for (const { task } of gone) {
      this.#denied.leave(task.id);
      this.#failing.leave(task.id);
    }
    if (hasChanged) log.info({ api, appliances: appliances.size, tasks: tasks.size }, 'the inventory has changed');
  }

  /** All that came of a poll is taken in. */
  settled(): void {
    this.#polledOnce ||= this.#settings.tasks.deciding.some(({ standing }) => standing !== undefined);
  }

  /** A value is not fresh any more: its appliance, or the API, may be down. */
  expired({ task }: TaskState): void {
    this.#tellApi();
    this.#tellAppliance(task.appliance?.serial);
  }

  /** What a poll brought could not be taken in: a fault of ours. Polling goes on. */
  defect({ task }: TaskState, err: Error): void {
    this.#settings.log.error({ task: task.id, err }, 'internal error while storing a poll’s result; please report');
  }

  /** Of what decides; where nothing of that was polled yet, as where the token was rejected, of any task. */
  get #lastError(): Error | undefined {
    const { tasks } = this.#settings;
    return latestError(tasks.deciding) ?? latestError(tasks.all());
  }

  #tellApi(): void {
    const { tasks, health, api, log, appliances } = this.#settings;
    const { up } = this;
    // Before all were asked, that none has answered yet says nothing.
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

  /** One line when an operation is denied, or goes on failing, and one when no task of it is any more. */
  #tellOperation(state: TaskState, outcome: Outcome): void {
    const { log, api, appliances } = this.#settings;
    const { id, appliance, operation: name } = state.task;
    const isOfSeries = appliance !== undefined;
    const operation = isOfSeries && outcome.state === 'denied' ? 'series' : name;
    if (outcome.state === 'denied') {
      // That an appliance lacks a series is nothing new; that it may not be read is.
      const isNews = !isOfSeries || state.error === undefined || reasonOf(state.error.cause) === 'forbidden';
      if (isNews && this.#denied.enter(operation, id)) {
        log.warn({ api, operation, err: outcome.error }, 'operation rejected; polled at the discovery interval');
      }
    } else if (outcome.state === 'succeeded') {
      const given = this.#denied.leave(id);
      if (given !== undefined) log.info({ api, operation: given }, 'operation available again');
    }
    if (outcome.state !== 'failed') {
      const mended = this.#failing.leave(id);
      if (mended !== undefined) log.info({ api, operation: mended }, 'the operation can be polled again');
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

/** Which operations something is the matter with: from the first task of each until none is left. */
class Marks {
  readonly #operations = new Map<string, Set<string>>();

  /** Whether that is the first task of the operation. */
  enter(operation: string, task: string): boolean {
    const tasks = this.#operations.get(operation);
    if (tasks === undefined) this.#operations.set(operation, new Set([task]));
    else tasks.add(task);
    return tasks === undefined;
  }

  /** The operation of which that was the last task. */
  leave(task: string): string | undefined {
    for (const [operation, tasks] of this.#operations) {
      if (!tasks.delete(task) || tasks.size > 0) continue;
      this.#operations.delete(operation);
      return operation;
    }
    return undefined;
  }
}

/** Whether what a task last brought stands: an answer, with records or without, and still fresh. */
function isWell({ standing, isShown }: TaskState): boolean {
  return isShown && (standing === 'records' || standing === 'empty');
}
