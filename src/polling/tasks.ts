import type { Task } from '../metrics/task.ts';
import { demandPerSecond, stretch, worstAgeMs } from './demand.ts';
import { newTaskState, REST_REASONS, type RestReason, type TaskState } from './task-state.ts';

/** The age of some tasks' data, in seconds. */
export interface AgeSummary {
  readonly medianSeconds: number;
  readonly worstSeconds: number;
}

export interface TasksSettings {
  /** How many intervals an unconfirmed value is exposed. */
  readonly staleAfter: number;
  /** How long counters of a task without success are shown; default: for ever. */
  readonly forgetAfterMs?: number;
  /** The requests per second that the limits sustain. */
  readonly allowedPerSecond: () => number;
  /** Whether series of appliances are polled: then only they decide whether the API is up. */
  readonly hasSeries: boolean;
}

/** The difference between the old and the new tasks. */
export interface Change {
  readonly come: readonly TaskState[];
  readonly gone: readonly TaskState[];
  /** Those whose interval has become shorter. */
  readonly hastened: readonly TaskState[];
}

/** The part of the limits that is left for series, however much the tasks that go first need. */
const LEAST_LEFT = 0.1;

/** How long a value computed over all tasks is reused, in milliseconds. */
const STRETCH_KEPT_MS = 1_000;

/** The tasks of one API with the state of each. Times are monotonic milliseconds. */
export class Tasks {
  readonly #settings: TasksSettings;
  readonly #states = new Map<string, TaskState>();
  #stretched = { at: Number.NEGATIVE_INFINITY, value: 1 };
  #deciding: readonly TaskState[] = [];
  /** The current round: when it began, and how many tasks are still to be polled. */
  #roundStartedAt = 0;
  #awaited = 0;
  #roundSeconds: number | undefined;

  constructor(settings: TasksSettings) {
    this.#settings = settings;
  }

  get size(): number {
    let size = 0;
    for (const { isGone } of this.#states.values()) if (!isGone) size += 1;
    return size;
  }

  *all(): Generator<TaskState> {
    for (const state of this.#states.values()) if (!state.isGone) yield state;
  }

  get(id: string): TaskState | undefined {
    return this.#states.get(id);
  }

  /**
   * The tasks that decide whether the API is up, and whose age counts: the series of appliances. Without any, the tasks
   * that decide which there are; if no series are polled, all tasks.
   */
  get deciding(): readonly TaskState[] {
    return this.#deciding;
  }

  /** Seconds of the last complete round; undefined before it has ended. */
  get roundSeconds(): number | undefined {
    return this.#roundSeconds;
  }

  /** Replaces the tasks. A task that left and returns while it is in flight is the same one. */
  reconcile(tasks: readonly Task[], now: number): Change {
    const wanted = new Set(tasks.map(({ id }) => id));
    const gone = [...this.all()].filter(({ task }) => !wanted.has(task.id));
    for (const state of gone) {
      state.isGone = true;
      if (!state.isTaken) this.#states.delete(state.task.id);
    }
    const come: TaskState[] = [];
    const hastened: TaskState[] = [];
    for (const task of tasks) {
      const known = this.#states.get(task.id);
      if (known === undefined || known.isGone) come.push(this.#add(task, now, known));
      else {
        if (task.intervalMs < known.task.intervalMs) hastened.push(known);
        known.task = task;
      }
    }
    this.#deciding = this.#whoDecides();
    this.#stretched = { at: Number.NEGATIVE_INFINITY, value: 1 };
    if (this.#states.size === come.length) this.#roundStartedAt = now;
    this.#await(come, now);
    return { come, gone, hastened };
  }

  /** Forgets a task that left while in flight, after its poll has ended. */
  forget(state: TaskState): void {
    if (state.isGone) this.#states.delete(state.task.id);
  }

  /** The factor by which the current limits stretch intervals; tasks that go first keep theirs. */
  stretched(now: number): number {
    if (now - this.#stretched.at >= STRETCH_KEPT_MS) {
      const demand = (isFirst: boolean) =>
        demandPerSecond([...this.all()].filter(({ task }) => (task.first ?? false) === isFirst).map(spacing));
      const allowed = this.#settings.allowedPerSecond();
      const left = Math.max(allowed - demand(true), LEAST_LEFT * allowed);
      this.#stretched = { at: now, value: stretch(demand(false), left) };
    }
    return this.#stretched.value;
  }

  /**
   * The tasks whose values are stale, and those whose counters are to be forgotten; each is returned once. A value is fresh
   * for a number of intervals: those that applied when it was confirmed, or the current ones if longer.
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

  /** Processes the end of a poll; the round ends with its last awaited task. */
  polled(state: TaskState, now: number): void {
    // A round without a known list of tasks has not ended.
    if (!state.isAwaited || (state.task.changesTasks && state.standing === 'failed')) return;
    state.isAwaited = false;
    this.#awaited -= 1;
    if (this.#awaited > 0) return;
    this.#roundSeconds = (now - this.#roundStartedAt) / 1000;
    this.#roundStartedAt = now;
    this.#await(this.#deciding, now);
  }

  /** The ages of the deciding tasks that are not backed off; undefined without any result. */
  ages(now: number): AgeSummary | undefined {
    const awake = this.#deciding.filter(
      ({ resting, confirmedAt }) => resting === undefined && confirmedAt !== undefined,
    );
    const ages = Float64Array.from(awake, ({ confirmedAt = now }) => now - confirmedAt).sort();
    const median = ages[Math.floor(ages.length / 2)];
    const worst = ages.at(-1);
    if (median === undefined || worst === undefined) return undefined;
    return { medianSeconds: median / 1000, worstSeconds: worst / 1000 };
  }

  /**
   * How many tasks that are not backed off have missed more than one poll: no success for two and a half of their
   * intervals, as stretched by the limits.
   */
  overdue(now: number): number {
    const stretched = this.stretched(now);
    let overdue = 0;
    for (const { task, resting, confirmedAt, since } of this.all()) {
      if (resting === undefined && now - (confirmedAt ?? since) > worstAgeMs(task.intervalMs, 2 * stretched))
        overdue += 1;
    }
    return overdue;
  }

  /** How many tasks are backed off for each reason, including 0. */
  resting(): ReadonlyMap<RestReason, number> {
    const counts = new Map<RestReason, number>(REST_REASONS.map((reason) => [reason, 0]));
    for (const { resting } of this.all())
      if (resting !== undefined) counts.set(resting, (counts.get(resting) ?? 0) + 1);
    return counts;
  }

  #add(task: Task, now: number, leaving: TaskState | undefined): TaskState {
    const state = newTaskState(task, now);
    if (leaving === undefined) this.#states.set(task.id, state);
    else {
      // Still in flight: it must not be polled twice at once.
      const { due, version, isTaken } = leaving;
      Object.assign(leaving, state, { due, version, isTaken });
      return leaving;
    }
    return state;
  }

  #whoDecides(): readonly TaskState[] {
    const all = [...this.all()];
    const series = all.filter(({ task }) => task.appliance !== undefined);
    if (series.length > 0) return series;
    return this.#settings.hasSeries ? all.filter(({ task }) => task.changesTasks) : all;
  }

  /**
   * A round is every deciding task, and every task that may add some; new tasks join the current round. Tasks with
   * longer intervals, or backed off, are not awaited.
   */
  #await(come: Iterable<TaskState>, now: number): void {
    const shortest = this.#deciding.reduce(
      (least, { task }) => Math.min(least, task.intervalMs),
      Number.POSITIVE_INFINITY,
    );
    const series = this.#deciding.some(({ task }) => task.appliance !== undefined);
    for (const state of come) {
      const { task, resting, since } = state;
      const decides =
        (task.appliance !== undefined || !series) && task.intervalMs === shortest && resting === undefined;
      state.isAwaited = decides || (task.changesTasks === true && since === now);
    }
    this.#awaited = [...this.all()].filter(({ isAwaited }) => isAwaited).length;
  }
}

/** For the demand, of one request: a task that is backed off has its longer interval. */
function spacing({ task, resting }: TaskState): { readonly intervalMs: number } {
  const { intervalMs, restMs = intervalMs, requests = 1 } = task;
  return { intervalMs: (resting === undefined ? intervalMs : restMs) / requests };
}
