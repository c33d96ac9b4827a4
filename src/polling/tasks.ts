import type { Task } from '../contract/task.ts';
import { getOrCreate } from '../runtime/maps.ts';
import { stretch } from './demand.ts';
import { PolledAppliance, TaskState } from './task-state.ts';

export interface TasksOptions {
  readonly intervalMs: number;
  /** How many intervals an unconfirmed value is exposed. */
  readonly staleAfter: number;
  /** How long counters of a task without success are shown; default: for ever. */
  readonly forgetAfterMs?: number;
  readonly allowedPerSecond: () => number;
  /** Whether series of appliances are polled: then only they decide whether the API is up. */
  readonly hasSeries: boolean;
}

export interface Change {
  readonly come: readonly TaskState[];
  readonly gone: readonly TaskState[];
  /** Those whose interval has become shorter. */
  readonly hastened: readonly TaskState[];
  readonly left: readonly PolledAppliance[];
  readonly isOtherFleet: boolean;
}

/** How long the stretch is reused: it is computed over all tasks. */
const STRETCH_KEPT_MS = 1_000;

/** The tasks of one API with the state of each, and their appliances. Times are monotonic milliseconds. */
export class Tasks {
  readonly #settings: TasksOptions;
  readonly #states = new Map<string, TaskState>();
  readonly #appliances = new Map<string, PolledAppliance>();
  #stretched = { at: Number.NEGATIVE_INFINITY, value: 1 };
  #deciding: readonly TaskState[] = [];
  #sweepMs: number;
  /** The current sweep: when it began, and the tasks that are still to be polled. */
  #sweepStartedAt: number | undefined;
  #awaited = new Set<TaskState>();
  #sweepSeconds: number | undefined;

  constructor(settings: TasksOptions) {
    this.#settings = settings;
    this.#sweepMs = settings.intervalMs;
  }

  get size(): number {
    return [...this.all()].length;
  }

  *all(): Generator<TaskState> {
    for (const state of this.#states.values()) if (!state.isGone) yield state;
  }

  get(id: string): TaskState | undefined {
    return this.#states.get(id);
  }

  get appliances(): ReadonlyMap<string, PolledAppliance> {
    return this.#appliances;
  }

  /** They decide whether the API is up: the series; without any, what decides which there are; without series, all. */
  get deciding(): readonly TaskState[] {
    return this.#deciding;
  }

  /** Polled at the configured interval, or at the shortest one if all are longer; without those that are backed off. */
  get sweep(): readonly TaskState[] {
    return this.#deciding.filter(({ task, backedOff }) => task.intervalMs <= this.#sweepMs && backedOff === undefined);
  }

  get sweepMs(): number {
    return this.#sweepMs;
  }

  get staleAfter(): number {
    return this.#settings.staleAfter;
  }

  freshMs(intervalMs: number, now: number): number {
    return this.#settings.staleAfter * intervalMs * this.stretched(now);
  }

  get sweepSeconds(): number | undefined {
    return this.#sweepSeconds;
  }

  /** Replaces the tasks. A task that left and returns while it is in flight is the same one. */
  reconcile(tasks: readonly Task[], now: number): Change {
    const wanted = new Set(tasks.map(({ id }) => id));
    const gone = [...this.all()].filter(({ task }) => !wanted.has(task.id));
    for (const state of gone) this.#remove(state);
    const come: TaskState[] = [];
    const hastened: TaskState[] = [];
    const { size } = this.#appliances;
    for (const task of tasks) {
      const known = this.#states.get(task.id);
      const appliance = task.appliance && this.#appliance(task.appliance);
      if (known === undefined || known.isGone) come.push(this.#add(new TaskState(task, now, appliance), known));
      else {
        if (task.intervalMs < known.task.intervalMs) hastened.push(known);
        known.task = task;
      }
    }
    const hasJoined = this.#appliances.size > size;
    const left = [...this.#appliances.values()].filter((appliance) => appliance.tasks.size === 0);
    for (const { serial } of left) this.#appliances.delete(serial);
    this.#decide();
    this.#stretched = { at: Number.NEGATIVE_INFINITY, value: 1 };
    this.#sweepStartedAt ??= now;
    const sweep = new Set(this.sweep);
    this.#awaited = new Set([...this.#awaited, ...come].filter((state) => sweep.has(state)));
    return { come, gone, hastened, left, isOtherFleet: hasJoined || left.length > 0 };
  }

  forget(state: TaskState): void {
    if (state.isGone) this.#states.delete(state.task.id);
  }

  /** The factor by which the current limits stretch intervals; tasks that go first keep theirs. */
  stretched(now: number): number {
    if (now - this.#stretched.at >= STRETCH_KEPT_MS) {
      const perSecond = { first: 0, others: 0 };
      for (const { task, backedOff } of this.all()) {
        const { intervalMs, suspendedIntervalMs = intervalMs, requests = 1 } = task;
        const spacingMs = (backedOff === undefined ? intervalMs : suspendedIntervalMs) / requests;
        perSecond[task.priority ? 'first' : 'others'] += 1000 / spacingMs;
      }
      const value = stretch(perSecond.others, this.#settings.allowedPerSecond(), perSecond.first);
      this.#stretched = { at: now, value };
    }
    return this.#stretched.value;
  }

  /**
   * Those whose values are stale, or whose counters are to be forgotten; each once. The intervals are those that applied
   * when a value was confirmed, or the current ones if longer.
   */
  *expire(now: number): Generator<TaskState> {
    const { staleAfter, forgetAfterMs = Number.POSITIVE_INFINITY } = this.#settings;
    const stretched = this.stretched(now);
    for (const state of this.all()) {
      const ageMs = now - (state.confirmedAt ?? now);
      const promisedMs = Math.max(state.promisedMs, state.task.intervalMs * stretched);
      const isStale = state.isShown && ageMs > staleAfter * promisedMs;
      const isForgotten = !state.isShown && ageMs > forgetAfterMs;
      if (!isStale && !isForgotten) continue;
      state.isShown = false;
      if (isForgotten) state.confirmedAt = undefined;
      yield state;
    }
  }

  polled(state: TaskState, now: number): void {
    // A sweep without a known list of tasks has not ended.
    if (state.task.discoversTasks && state.standing === 'failed') return;
    const wasAwaited = this.#awaited.delete(state);
    if (this.#awaited.size > 0) return;
    if (wasAwaited) this.#sweepSeconds = (now - (this.#sweepStartedAt ?? now)) / 1000;
    this.#sweepStartedAt = now;
    this.#awaited = new Set(this.sweep);
  }

  #remove(state: TaskState): void {
    state.isGone = true;
    state.appliance?.tasks.delete(state);
    if (state.due !== undefined) this.#states.delete(state.task.id);
  }

  #add(added: TaskState, leaving: TaskState | undefined): TaskState {
    // One that is still in flight must not be polled twice at once.
    const state = leaving === undefined ? added : Object.assign(leaving, added);
    this.#states.set(state.task.id, state);
    state.appliance?.tasks.add(state);
    return state;
  }

  #appliance({ serial, name }: { readonly serial: string; readonly name: string }): PolledAppliance {
    const appliance = getOrCreate(this.#appliances, serial, () => new PolledAppliance(serial, name));
    appliance.name = name;
    return appliance;
  }

  #decide(): void {
    const all = [...this.all()];
    const series = all.filter(({ appliance }) => appliance !== undefined);
    if (series.length > 0) this.#deciding = series;
    else this.#deciding = this.#settings.hasSeries ? all.filter(({ task }) => task.discoversTasks) : all;
    const { intervalMs } = this.#settings;
    const shortestMs = this.#deciding.reduce(
      (least, { task }) => Math.min(least, task.intervalMs),
      Number.POSITIVE_INFINITY,
    );
    this.#sweepMs = this.#deciding.length === 0 ? intervalMs : Math.max(intervalMs, shortestMs);
  }
}
