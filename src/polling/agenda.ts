import { unitHash } from '../runtime/random.ts';
import type { TaskState } from './task-state.ts';

/** The first moment after `now` on the grid `phase + n * interval`: an overrun waits for its next slot. */
export function nextSlot(now: number, intervalMs: number, phase: number): number {
  return phase + (Math.floor((now - phase) / intervalMs) + 1) * intervalMs;
}

/** How many polls may be in flight at once. */
export interface AgendaLimits {
  readonly perAppliance: number;
  /** Of all tasks whose latest poll failed: they may hang, and must not hold all workers. */
  readonly failing: number;
}

/** In the order in which they are served; between the first and the last, failing tasks by their failures in a row. */
const LANES = { first: 0, maxFailures: 10, well: 11 } as const;

/** After this many failures in a row, of any tasks, an appliance's other tasks wait as if they had failed as often. */
const SUSPECT_AFTER = 2;

/** In milliseconds. A scan for each request took a tenth of a core at 30,000 tasks and 500 requests a second. */
const SCAN_MS = 1_000;

/** Where more than `tasks` are left over at a scan, it lasts `scans` times as long: most of the order stays the same. */
const BACKLOG = { tasks: 1_000, scans: 10 } as const;

/**
 * Decides which task is due next. Starts nothing and reads no clock; times are monotonic milliseconds.
 *
 * A scan sorts what is due before the next one: the task that is latest relative to its interval goes first. Failing
 * tasks share a few workers, one for each appliance, and the one with the fewest failures in a row goes first. A task in
 * flight has no due moment until it is put back, so two polls of it cannot overlap. Its phase comes from its name, so a
 * sweep is even and a restart is no stampede.
 */
export class Agenda {
  readonly #limits: AgendaLimits;
  readonly #tasks = new Set<TaskState>();
  /** Those in flight, and whether each was failing when it was taken. */
  readonly #inFlight = new Map<TaskState, boolean>();
  /** What is due before the next scan, in the order of the latest one. */
  #soon: TaskState[] = [];
  #nextScan = Number.NEGATIVE_INFINITY;
  #laterDue = Number.POSITIVE_INFINITY;
  #probesLatest = false;

  constructor(limits: AgendaLimits) {
    this.#limits = limits;
  }

  add(state: TaskState, now: number): void {
    this.#tasks.add(state);
    // Spread over one millisecond in the order of the phases, so that no appliance is polled completely before the next
    // one.
    if (!this.#inFlight.has(state)) this.#place(state, now + unitHash(state.task.id));
  }

  take(now: number, isSeriesHeld = false): TaskState | undefined {
    if (now >= this.#nextScan) this.#scan(now);
    const isReady = this.#readiness(isSeriesHeld);
    const index = this.#soon.findIndex((state) => (state.due ?? Number.POSITIVE_INFINITY) <= now && isReady(state));
    const [state] = index < 0 ? [] : this.#soon.splice(index, 1);
    return state && this.#taken(state, isFailing(state));
  }

  /** Due or not. By turns the one that succeeded last, and one with the fewest failures: either may hang. */
  takeProbe(series: Iterable<TaskState>): TaskState | undefined {
    this.#probesLatest = !this.#probesLatest;
    const waiting = [...series].filter(({ due, isGone }) => due !== undefined && !isGone);
    const latest = (state: TaskState) => (this.#probesLatest ? (state.confirmedAt ?? 0) : 0);
    const isBetter = (one: TaskState, other: TaskState) =>
      (latest(one) - latest(other) || rankOf(other) - rankOf(one) || (other.due ?? 0) - (one.due ?? 0)) > 0;
    const [first] = waiting;
    const best = first && waiting.reduce((best, one) => (isBetter(one, best) ? one : best), first);
    return best && this.#taken(best, false);
  }

  /** When the next task is due; infinite without one, or if all are in flight or held back by others. */
  nextDue(now: number, isSeriesHeld = false): number {
    const isReady = this.#readiness(isSeriesHeld);
    let next = this.#laterDue;
    for (const state of this.#soon) {
      const { due = 0 } = state;
      if (due > now && due < next && isReady(state)) next = due;
    }
    return next;
  }

  /** Puts back a task that was taken: for its next slot, or `afterMs` from now. */
  putBack(state: TaskState, now: number, afterMs?: number): void {
    this.#inFlight.delete(state);
    if (state.isGone) return;
    // Not sooner than half an interval: the first poll is immediate, and its grid may be just behind it.
    const { id, intervalMs } = state.task;
    const slot = nextSlot(now + intervalMs / 2, intervalMs, unitHash(id) * intervalMs);
    this.#place(state, afterMs === undefined ? slot : now + afterMs);
  }

  wake(state: TaskState, now: number, withinMs: number): void {
    const due = now + unitHash(state.task.id) * withinMs;
    if (state.due !== undefined && due < state.due) this.#place(state, due);
  }

  #place(state: TaskState, due: number): void {
    const isListed = state.due !== undefined && state.due < this.#nextScan;
    state.due = due;
    if (due >= this.#nextScan) this.#laterDue = Math.min(this.#laterDue, due);
    else if (!isListed) this.#soon.push(state);
  }

  #scan(now: number): void {
    const isLong = this.#soon.length > BACKLOG.tasks;
    const listedTo = this.#nextScan;
    this.#nextScan = now + SCAN_MS * (isLong ? BACKLOG.scans : 1);
    this.#laterDue = Number.POSITIVE_INFINITY;
    for (const state of this.#tasks) {
      const { due } = state;
      if (state.isGone) this.#tasks.delete(state);
      else if (due === undefined || due < listedTo) continue;
      else if (due >= this.#nextScan) this.#laterDue = Math.min(this.#laterDue, due);
      else this.#soon.push(state);
    }
    const lateness = ({ due = now, task }: TaskState) => (now - due) / task.intervalMs;
    this.#soon = this.#soon.filter(({ isGone }) => !isGone);
    this.#soon.sort((one, other) => laneOf(one) - laneOf(other) || lateness(other) - lateness(one));
  }

  #readiness(isSeriesHeld: boolean): (state: TaskState) => boolean {
    const { perAppliance, failing: maxFailing } = this.#limits;
    const mayFail = [...this.#inFlight.values()].filter(Boolean).length < maxFailing;
    return (state) => {
      const { appliance, isGone } = state;
      const fails = isFailing(state);
      if (isGone || (fails && !mayFail)) return false;
      if (appliance === undefined) return true;
      if (isSeriesHeld) return false;
      const besides = [...this.#inFlight].filter(([{ task }]) => task.appliance?.serial === appliance.serial);
      return besides.length < perAppliance && !(fails && besides.some(([, other]) => other));
    };
  }

  #taken(state: TaskState, fails: boolean): TaskState {
    state.due = undefined;
    this.#inFlight.set(state, fails);
    return state;
  }
}

function laneOf({ task, failures, appliance }: TaskState): number {
  if (task.priority) return LANES.first;
  const isSuspect = (appliance?.failures ?? 0) >= SUSPECT_AFTER;
  if (failures === 0) return isSuspect ? SUSPECT_AFTER : LANES.well;
  return Math.min(failures, LANES.maxFailures);
}

function isFailing(state: TaskState): boolean {
  const lane = laneOf(state);
  return lane > LANES.first && lane < LANES.well;
}

function rankOf({ failures, backedOff }: TaskState): number {
  return backedOff === undefined ? Math.min(failures, LANES.maxFailures) : LANES.well;
}
