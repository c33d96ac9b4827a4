import type { Api } from '../metrics/snapshot.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { reasonOf } from '../runtime/statuses.ts';
import type { Appliances } from './appliances.ts';
import type { SeriesHealth } from './health.ts';
import type { Outcome } from './poll.ts';
import { areAnswered, type Fault, isReporting, type TaskState } from './task-state.ts';
import type { Change, Tasks } from './tasks.ts';

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
  /** Whether it was up when that was logged last. */
  #loggedUp: boolean | undefined;
  #polledOnce = false;
  #lastSuccessAt: number | undefined;

  constructor(settings: ObserverSettings) {
    this.#settings = settings;
  }

  get up(): boolean {
    const { tasks, health } = this.#settings;
    return !health.isDown && areAnswered(tasks.deciding);
  }

  /** Why the API is not up, as in `filer_api_down_info`; undefined while it is, or before the first poll. */
  get downReason(): string | undefined {
    if (this.up) return undefined;
    if (this.#settings.isHeld()) return 'throttled';
    const error = this.#latestError;
    if (error !== undefined) return reasonOf(error);
    return this.polledOnce ? 'overdue' : undefined;
  }

  get lastError(): string | undefined {
    return this.up ? undefined : this.#latestError?.message;
  }

  /** Whether a deciding task has been polled, successfully or not. Once true it stays true. */
  get polledOnce(): boolean {
    this.#polledOnce ||= this.#settings.tasks.deciding.some(({ standing }) => standing !== undefined);
    return this.#polledOnce;
  }

  /** Epoch milliseconds of the last successful poll. */
  get lastSuccessAt(): number | undefined {
    return this.#lastSuccessAt;
  }

  /** Processes the end of a poll, after its task's state was updated. */
  ended(state: TaskState, outcome: Outcome): void {
    const { clock, log } = this.#settings;
    const { id: task } = state.task;
    const { seconds } = outcome;
    if (outcome.state === 'succeeded') {
      this.#lastSuccessAt = clock.now();
      log.debug({ task, seconds, drops: Object.fromEntries(outcome.reading.drops) }, 'polled');
    } else log.debug({ task, seconds, reason: outcome.error.message }, 'poll failed');
    this.#update([state]);
    this.#logOperation(state);
  }

  /** Values are stale: their appliances, or the API, may be down. */
  expired(states: readonly TaskState[]): void {
    if (states.length > 0) this.#update(states);
  }

  changed({ left, isOtherFleet }: Change): void {
    const { log, api, appliances, tasks } = this.#settings;
    for (const appliance of left) appliances.withdraw(appliance);
    this.#showAll();
    if (isOtherFleet)
      log.info({ api, appliances: tasks.appliances.size, tasks: tasks.size }, 'the inventory has changed');
  }

  defect({ task }: TaskState, err: Error): void {
    this.#settings.log.error({ task: task.id, err }, 'internal error while storing a poll’s result; please report');
  }

  /** Of the deciding tasks; if none was polled yet, as after a rejected token, of any task. */
  get #latestError(): Error | undefined {
    const { tasks } = this.#settings;
    return latestError(tasks.deciding) ?? latestError(tasks.all());
  }

  /** Exposes and logs the state of the API and of these tasks' appliances. */
  #update(states: readonly TaskState[]): void {
    const { appliances } = this.#settings;
    this.#logApi();
    const isDown = this.#loggedUp === false;
    for (const appliance of new Set(states.map((state) => state.appliance))) {
      if (appliance === undefined) continue;
      appliances.show(appliance, isDown);
      if (!isDown) appliances.log(appliance);
    }
  }

  #logApi(): void {
    const { tasks, health, api, log } = this.#settings;
    const { up } = this;
    // Not before all were polled: until then it is normal that none has answered.
    const isDown = health.isDown || (!up && tasks.deciding.every(({ standing }) => standing !== undefined));
    if (up === this.#loggedUp || !(up || isDown)) return;
    const isFirst = this.#loggedUp === undefined;
    this.#loggedUp = up;
    if (up) log.info({ api }, isFirst ? 'the API answers' : 'the API answers again');
    else log.warn({ api, reason: this.downReason, err: this.#latestError }, 'the API cannot be polled');
    this.#showAll();
  }

  #showAll(): void {
    const { tasks, appliances } = this.#settings;
    for (const appliance of tasks.appliances.values()) appliances.show(appliance, this.#loggedUp === false);
  }

  /** Logs one line when an operation gets a fault, and one when no task has it any more. */
  #logOperation(state: TaskState): void {
    const { log, api } = this.#settings;
    const before = state.fault;
    const fault = this.#faultOf(state);
    if (isSame(fault, before)) return;
    state.fault = fault;
    if (before !== undefined && this.#isOfNoOther(before, state)) {
      const text = before.isDenied ? 'operation available again' : 'the operation can be polled again';
      log.info({ api, operation: before.operation }, text);
    }
    if (fault === undefined || !this.#isOfNoOther(fault, state)) return;
    const text = fault.isDenied
      ? 'operation rejected; polled at the discovery interval'
      : 'the operation cannot be polled';
    log.warn({ api, operation: fault.operation, task: state.task.id, err: state.error }, text);
  }

  #faultOf({ task, appliance, standing, error, failures, fault }: TaskState): Fault | undefined {
    const { operation } = task;
    if (standing === 'denied') {
      // A missing series is normal; a missing right is not.
      if (appliance === undefined) return { operation, isDenied: true };
      const isForbidden = error !== undefined && reasonOf(error) === 'forbidden';
      return isForbidden ? { operation: 'series', isDenied: true } : fault?.isDenied ? fault : undefined;
    }
    if (standing !== 'failed') return undefined;
    const isOwn = appliance === undefined || [...appliance.tasks].some(isReporting);
    return fault ?? (this.#loggedUp && failures > 1 && isOwn ? { operation, isDenied: false } : undefined);
  }

  #isOfNoOther(fault: Fault, state: TaskState): boolean {
    for (const other of this.#settings.tasks.all()) if (other !== state && isSame(other.fault, fault)) return false;
    return true;
  }
}

function isSame(one: Fault | undefined, other: Fault | undefined): boolean {
  return one?.operation === other?.operation && one?.isDenied === other?.isDenied;
}

function latestError(states: Iterable<TaskState>): Error | undefined {
  let latest: TaskState | undefined;
  for (const state of states) {
    if (state.error !== undefined && (state.polledAt ?? 0) >= (latest?.polledAt ?? 0)) latest = state;
  }
  return latest?.error;
}
