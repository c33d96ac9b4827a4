import type { ServiceName } from '../contract/poll-result.ts';
import type { ServiceWarning } from '../contract/service-warning.ts';
import type { Clock } from '../runtime/clock.ts';
import { failureReason, isForbidden } from '../runtime/error-policy.ts';
import type { Log } from '../runtime/log.ts';
import { runToEnd } from '../runtime/slices.ts';
import type { Appliances } from './appliances.ts';
import type { SeriesHealth } from './health.ts';
import type { Outcome } from './poll.ts';
import type { Fault, TaskState } from './task-state.ts';
import type { Change, Tasks } from './tasks.ts';
import type { Moment } from './verdict.ts';

export interface ObserverOptions {
  readonly api: ServiceName;
  readonly tasks: Tasks;
  readonly appliances: Appliances;
  readonly health: SeriesHealth;
  readonly isHeld: () => boolean;
  readonly notes: () => readonly ServiceWarning[];
  readonly clock: Clock;
  readonly log: Log;
}

/** Each change of state, of the API, an appliance or an operation, is one log line; the API's explains the others. */
export class Observer {
  readonly #settings: ObserverOptions;
  #loggedUp: boolean | undefined;
  #noted: ReadonlyMap<string, ServiceWarning> = new Map();
  #polledOnce = false;
  #lastSuccessAt: number | undefined;
  /** The same by the monotonic clock, of a deciding task; a time in which nothing ran is added. */
  #answeredAt = Number.NEGATIVE_INFINITY;
  #isSeriesAnswered = false;
  /** Since then polls say something about appliances: before, the process did not run, or the API was down. */
  #resumedAt = Number.NEGATIVE_INFINITY;

  constructor(settings: ObserverOptions) {
    this.#settings = settings;
  }

  /** A deciding task has succeeded lately, and the API is not known to be down: probed only, or all are rejected. */
  get up(): boolean {
    const { tasks, health, clock } = this.#settings;
    const now = clock.monotonic();
    if (health.isDown || now - this.#answeredAt > tasks.freshMs(tasks.sweepMs, now)) return false;
    // An inventory that was read while nothing else was known says nothing about series.
    if (tasks.deciding[0]?.appliance !== undefined && !this.#isSeriesAnswered) return false;
    return tasks.deciding.some(({ standing }) => standing !== 'denied');
  }

  /** Why the API is not up, as in `filer_api_down_info`; undefined while it is, or before the first poll. */
  get downReason(): string | undefined {
    if (this.up) return undefined;
    if (this.#settings.isHeld()) return 'throttled';
    const error = this.#latestError;
    if (error !== undefined) return failureReason(error);
    return this.polledOnce ? 'overdue' : undefined;
  }

  get lastError(): string | undefined {
    return this.up ? undefined : this.#latestError?.message;
  }

  get polledOnce(): boolean {
    this.#polledOnce ||= this.#settings.tasks.deciding.some(({ standing }) => standing !== undefined);
    return this.#polledOnce;
  }

  /** Epoch milliseconds of the last successful poll. */
  get lastSuccessAt(): number | undefined {
    return this.#lastSuccessAt;
  }

  ended(state: TaskState, outcome: Outcome): void {
    const { clock, log } = this.#settings;
    const { id: task } = state.task;
    const { seconds } = outcome;
    if (outcome.state === 'succeeded') {
      this.#lastSuccessAt = clock.now();
      if (this.#decides(state)) this.#answeredAt = clock.monotonic();
      if (state.appliance !== undefined) this.#isSeriesAnswered = true;
      log.debug({ task, seconds, drops: Object.fromEntries(outcome.reading.drops) }, 'polled');
    } else log.debug({ task, seconds, reason: outcome.error.message }, 'poll failed');
    this.#logApi();
    this.#logNotes();
    if (state.appliance !== undefined) this.#settings.appliances.judge(state.appliance, this.#moment);
    this.#logOperation(state);
  }

  /** Yields where it may be interrupted. */
  *timePassed(): Generator<void> {
    this.#logApi();
    this.#logNotes();
    yield* this.#judgeAll();
  }

  /** The process has not run for so long: about that time nothing can be said. */
  resumed(pausedMs: number): void {
    this.#answeredAt += pausedMs;
    this.#resumedAt = this.#settings.clock.monotonic();
  }

  changed({ left, isOtherFleet }: Change): void {
    const { log, api, appliances, tasks } = this.#settings;
    for (const appliance of left) appliances.withdraw(appliance);
    runToEnd(this.#judgeAll());
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

  #logApi(): void {
    const { tasks, health, api, log, clock } = this.#settings;
    const { up } = this;
    // Not before all were polled: until then it is normal that none has answered.
    const isDown = health.isDown || (!up && tasks.deciding.every(({ standing }) => standing !== undefined));
    if (up === this.#loggedUp || !(up || isDown)) return;
    const isFirst = this.#loggedUp === undefined;
    this.#loggedUp = up;
    if (up) log.info({ api }, isFirst ? 'the API answers' : 'the API answers again');
    else log.warn({ api, reason: this.downReason, err: this.#latestError }, 'the API cannot be polled');
    // What failed meanwhile says nothing about an appliance.
    if (up && !isFirst) this.#resumedAt = clock.monotonic();
    runToEnd(this.#judgeAll());
  }

  #logNotes(): void {
    const { notes, log, api } = this.#settings;
    const before = this.#noted;
    this.#noted = new Map(notes().map((note) => [note.code, note]));
    for (const [note, { message }] of this.#noted) if (!before.has(note)) log.warn({ api, note }, message);
    for (const [note, { message }] of before) if (!this.#noted.has(note)) log.info({ api, note }, `over: ${message}`);
  }

  *#judgeAll(): Generator<void> {
    const moment = this.#moment;
    for (const appliance of this.#settings.tasks.appliances.values()) {
      this.#settings.appliances.judge(appliance, moment);
      yield;
    }
  }

  get #moment(): Moment {
    const { tasks, clock } = this.#settings;
    const now = clock.monotonic();
    const { staleAfter } = tasks;
    const isApiDown = this.#loggedUp === false;
    return { now, resumedAt: this.#resumedAt, isApiDown, staleAfter, stretched: tasks.stretched(now) };
  }

  #decides(state: TaskState): boolean {
    return state.appliance !== undefined || this.#settings.tasks.deciding.includes(state);
  }

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
    const { task, appliance, error: err } = state;
    const filer = appliance && { serial: appliance.serial, filer: appliance.name };
    log.warn({ api, operation: fault.operation, ...filer, task: task.id, err }, text);
  }

  #faultOf({ task, appliance, standing, backedOff, error, failures, silence, fault }: TaskState): Fault | undefined {
    const { operation } = task;
    if (standing === 'denied') {
      // A missing series is normal; a missing right is not.
      if (appliance === undefined) return { operation, isDenied: true };
      return isForbidden(error) ? { operation: 'series', isDenied: true } : fault?.isDenied ? fault : undefined;
    }
    if (standing !== 'failed' || backedOff !== undefined) return undefined;
    // Where nothing else of its appliance, or of its API, has answered since, that is what fails.
    const since = silence?.since ?? Number.POSITIVE_INFINITY;
    const isOwn = appliance
      ? [...appliance.tasks].some(({ reportedAt = 0 }) => reportedAt > since)
      : this.#answeredAt > since;
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
