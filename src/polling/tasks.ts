import type { Task } from '../metrics/task.ts';
import { demandPerSecond, stretch, worstAgeMs } from './demand.ts';
import { newTaskState, REST_REASONS, type RestReason, type TaskState } from './task-state.ts';

/** How old the data of some tasks is, in seconds. */
export interface AgeSummary {
  readonly medianSeconds: number;
  readonly worstSeconds: number;
}

/** What the tasks of an API are held against. */
export interface TasksSettings {
  /** For so many intervals a value that nobody confirmed is shown. */
  readonly staleAfter: number;
  /** Requests per second that the limits allow for long. */
  readonly allowedPerSecond: () => number;
  /** Whether series of appliances are polled: then they alone decide whether the API is up. */
  readonly hasSeries: boolean;
}

/** What other tasks there are from now on. */
export interface Change {
  readonly come: readonly TaskState[];
  readonly gone: readonly TaskState[];
  /** Those whose interval has become shorter. */
  readonly hastened: readonly TaskState[];
}

/** How long what was computed over all tasks is good, in milliseconds. */
const STRETCH_KEPT_MS = 1_000;

/** The tasks of one API with all that is known of each. Times are monotonic milliseconds. */
export class Tasks {
  readonly #settings: TasksSettings;
  readonly #states = new Map<string, TaskState>();
  #stretched = { at: Number.NEGATIVE_INFINITY, value: 1 };
  #deciding: readonly TaskState[] = [];
  /** The round that is on: when it began, and how many are still to be polled. */
  #roundStartedAt = 0;
  #awaited = 0;
  #roundSeconds: number | undefined;

  constructor(settings: TasksSettings) {
    this.#settings = settings;
  }

  /** How many there are. */
  get size(): number {
    let size = 0;
    for (const { isGone } of this.#states.values()) if (!isGone) size += 1;
    return size;
  }

  /** All there are. */
  *all(): Generator<TaskState> {
    for (const state of this.#states.values()) if (!state.isGone) yield state;
  }

  get(id: string): TaskState | undefined {
    return this.#states.get(id);
  }

  /**
   * Those whose outcome decides whether the API is up, and whose age people ask about: the series of appliances. While
   * there are none, what decides which there are; where none are polled, all.
   */
  get deciding(): readonly TaskState[] {
    return this.#deciding;
  }

  /** Seconds of the last whole round; undefined before it has ended. */
  get roundSeconds(): number | undefined {
    return this.#roundSeconds;
  }

  /** Makes these the tasks and no others. One that left and comes back while it is under way is the same one. */
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

  /** Forgets one that left while it was under way, now that this has ended. */
  forget(state: TaskState): void {
    if (state.isGone) this.#states.delete(state.task.id);
  }

  /** How many times its interval a task has to wait, as the limits are now. */
  stretched(now: number): number {
    if (now - this.#stretched.at >= STRETCH_KEPT_MS) {
      const demand = demandPerSecond([...this.all()].map(({ task, resting }) => spacing(task, resting)));
      this.#stretched = { at: now, value: stretch(demand, this.#settings.allowedPerSecond()) };
    }
    return this.#stretched.value;
  }

  /**
   * The tasks whose values must not be shown any more; each is told once. A value lives so many intervals: those that were
   * promised when it was confirmed, or where they are longer now, as they are now.
   */
  *expire(now: number): Generator<TaskState> {
    const stretched = this.stretched(now);
    for (const state of this.all()) {
      const promisedMs = Math.max(state.promisedMs, state.task.intervalMs * stretched);
      if (!state.isShown || now - (state.confirmedAt ?? now) <= this.#settings.staleAfter * promisedMs) continue;
      state.isShown = false;
      yield state;
    }
  }

  /** A poll of a task has ended: a round has, when that was the last of all that are awaited. */
  polled(state: TaskState, now: number): void {
    // What could not be asked which tasks there are has not ended any round.
    if (!state.isAwaited || (state.task.changesTasks && state.standing === 'failed')) return;
    state.isAwaited = false;
    this.#awaited -= 1;
    if (this.#awaited > 0) return;
    this.#roundSeconds = (now - this.#roundStartedAt) / 1000;
    this.#roundStartedAt = now;
    this.#await(this.#deciding, now);
  }

  /** The ages of what decides, of what does not rest; undefined while nothing has brought anything. */
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
   * How many that do not rest have missed more than one poll: no success for two of their intervals as the limits stretch
   * them, and the half that a slot may be late.
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

  /** How many rest for each reason, those with none included. */
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
      // Still under way: it may not be polled twice at once.
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
   * A round is every task that decides, and every one that may bring such; those that come are of the round that is on. What
   * is asked at longer intervals, or rests, is not waited for.
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

/** As a demand has it: what rests is asked at its longer interval. */
function spacing({ intervalMs, restMs }: Task, resting: RestReason | undefined): { readonly intervalMs: number } {
  return { intervalMs: resting === undefined ? intervalMs : (restMs ?? intervalMs) };
}
