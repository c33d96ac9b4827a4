import type { Api } from '../metrics/snapshot.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Appliances } from './appliances.ts';
import type { SeriesHealth } from './health.ts';
import type { Outcome } from './poll.ts';
import { areAnswered, isReporting, reasonOf, type TaskState } from './task-state.ts';
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

/** An operation that is rejected or keeps failing: from its first such task until none is left. */
interface Fault {
  readonly operation: string;
  readonly isDenied: boolean;
  readonly tasks: Set<TaskState>;
}

/**
 * The state of one API, derived from its polls: whether it is up, and why not. Each change of state, of the API, an
 * appliance or an operation, is one log line; while the API is down, that explains other failures.
 */
export class Observer {
  readonly #settings: ObserverSettings;
  readonly #faults = new Map<string, Fault>();
  #toldUp: boolean | undefined;
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

  /** The error of the latest failed poll while the API is down. */
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
    this.#tell([state]);
    this.#tellOperation(state);
  }

  /** Values are stale: their appliances, or the API, may be down. */
  expired(states: readonly TaskState[]): void {
    if (states.length > 0) this.#tell(states);
  }

  /** Processes a change of tasks. */
  changed({ gone, joined, left }: Change): void {
    const { log, api, appliances, tasks } = this.#settings;
    for (const state of gone) for (const fault of this.#faults.values()) fault.tasks.delete(state);
    for (const appliance of left) appliances.withdraw(appliance);
    this.#showAll();
    if (joined.length + left.length === 0) return;
    log.info({ api, appliances: tasks.appliances.size, tasks: tasks.size }, 'the inventory has changed');
  }

  /** Storing a poll's result failed: a bug. Polling continues. */
  defect({ task }: TaskState, err: Error): void {
    this.#settings.log.error({ task: task.id, err }, 'internal error while storing a poll’s result; please report');
  }

  /** Of the deciding tasks; if none was polled yet, as after a rejected token, of any task. */
  get #latestError(): Error | undefined {
    const { tasks } = this.#settings;
    return latestError(tasks.deciding) ?? latestError(tasks.all());
  }

  /** Exposes and logs the state of the API and of these tasks' appliances. */
  #tell(states: readonly TaskState[]): void {
    const { appliances } = this.#settings;
    this.#tellApi();
    const isDown = this.#toldUp === false;
    for (const appliance of new Set(states.map((state) => state.appliance))) {
      if (appliance === undefined) continue;
      appliances.show(appliance, isDown);
      if (!isDown) appliances.tell(appliance);
    }
  }

  #tellApi(): void {
    const { tasks, health, api, log } = this.#settings;
    const { up } = this;
    // Not before all were polled: until then it is normal that none has answered.
    const isDown = health.isDown || (!up && tasks.deciding.every(({ standing }) => standing !== undefined));
    if (up === this.#toldUp || !(up || isDown)) return;
    const wasTold = this.#toldUp !== undefined;
    this.#toldUp = up;
    if (up) log.info({ api }, wasTold ? 'the API answers again' : 'the API answers');
    else log.warn({ api, reason: this.downReason, err: this.#latestError }, 'the API cannot be polled');
    this.#showAll();
  }

  #showAll(): void {
    const { tasks, appliances } = this.#settings;
    for (const appliance of tasks.appliances.values()) appliances.show(appliance, this.#toldUp === false);
  }

  /** Logs one line when an operation gets a fault, and one when it is over. */
  #tellOperation(state: TaskState): void {
    const { log, api } = this.#settings;
    const before = [...this.#faults.values()].find(({ tasks }) => tasks.has(state));
    const fault = this.#faultOf(state, before);
    if (fault === before) return;
    before?.tasks.delete(state);
    if (before?.tasks.size === 0) {
      const text = before.isDenied ? 'operation available again' : 'the operation can be polled again';
      log.info({ api, operation: before.operation }, text);
    }
    fault?.tasks.add(state);
    if (fault?.tasks.size !== 1) return;
    const text = fault.isDenied
      ? 'operation rejected; polled at the discovery interval'
      : 'the operation cannot be polled';
    log.warn({ api, operation: fault.operation, task: state.task.id, err: state.error }, text);
  }

  #faultOf(state: TaskState, before: Fault | undefined): Fault | undefined {
    const { task, appliance, standing, error, failures } = state;
    if (standing === 'denied') {
      // A missing series is normal; a missing right is not.
      if (appliance === undefined) return this.#fault(task.operation, true);
      const isForbidden = error !== undefined && reasonOf(error) === 'forbidden';
      return isForbidden ? this.#fault('series', true) : before?.isDenied ? before : undefined;
    }
    if (standing !== 'failed') return undefined;
    const isOwn = appliance === undefined || [...appliance.tasks].some(isReporting);
    return before ?? (this.#toldUp && failures > 1 && isOwn ? this.#fault(task.operation, false) : undefined);
  }

  #fault(operation: string, isDenied: boolean): Fault {
    const key = `${operation} ${isDenied}`;
    const fault = this.#faults.get(key) ?? { operation, isDenied, tasks: new Set<TaskState>() };
    this.#faults.set(key, fault);
    return fault;
  }
}

function latestError(states: Iterable<TaskState>): Error | undefined {
  let latest: TaskState | undefined;
  for (const state of states) {
    if (state.error !== undefined && (state.polledAt ?? 0) >= (latest?.polledAt ?? 0)) latest = state;
  }
  return latest?.error;
}
