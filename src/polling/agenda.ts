import { entryOf } from '../runtime/maps.ts';
import { unitHash } from '../runtime/random.ts';
import { Heap } from './heap.ts';
import type { Slot, TaskState } from './task-state.ts';

/** The first moment after `now` on the grid `phase + n * interval`: an overrun waits for its next slot. */
export function nextSlot(now: number, intervalMs: number, phase: number): number {
  return phase + (Math.floor((now - phase) / intervalMs) + 1) * intervalMs;
}

/** How many polls may be in flight at once. */
export interface AgendaLimits {
  /** Of one appliance. */
  readonly perAppliance: number;
  /** Of all tasks whose latest poll failed: they may hang, and must not hold all workers. */
  readonly failing: number;
}

/** In the order in which they are served; between the first and the last, failing tasks by their failures in a row. */
const LANES = { first: 0, mostFailures: 10, well: 11 } as const;

/** After this many failures in a row, of any tasks, an appliance's other tasks wait as if they had failed as often. */
const SUSPECT_AFTER = 2;

/** The tasks that wait by one rule, the one due first in front. */
interface Queue {
  readonly lane: number;
  readonly isSeries: boolean;
  readonly heap: Heap<Slot>;
}

/**
 * Decides which task is due next. Starts nothing and reads no clock; times are monotonic milliseconds.
 *
 * The task that is latest relative to its interval goes first. Failing tasks share a few workers, one for each
 * appliance, and the one with the fewest failures in a row goes first. A task that was taken is off the agenda until it
 * is settled, so two polls of it cannot overlap. Its phase comes from its name, so a sweep is even and a restart is no
 * stampede.
 */
export class Agenda {
  readonly #limits: AgendaLimits;
  readonly #queues = new Map<string, Queue>();
  /** The tasks in flight, each with the lane from which it was taken. */
  readonly #inFlight = new Map<TaskState, number>();
  /** Due, and held back until another poll has ended. */
  #parked: Slot[] = [];
  /** Whether the latest probe was the task that succeeded last. */
  #probesLatest = false;

  constructor(limits: AgendaLimits) {
    this.#limits = limits;
  }

  add(state: TaskState, now: number): void {
    // Spread over one millisecond in the order of the phases, so that no appliance is polled completely before the next
    // one.
    if (!this.#inFlight.has(state)) this.#schedule(state, now + unitHash(state.task.id));
  }

  /** The most overdue task; undefined if none is due, or those due have to wait for others. */
  take(now: number, isSeriesHeld = false): TaskState | undefined {
    for (;;) {
      const slot = this.#mostOverdue(now, isSeriesHeld)?.heap.pop();
      if (slot === undefined) return undefined;
      if (!isCurrent(slot)) continue;
      if (this.#mayStart(slot)) return this.#taken(slot.state, slot.lane);
      this.#parked.push(slot);
    }
  }

  /**
   * A task for probing the API, due or not. By turns the one that succeeded last, because others may hang, and one with
   * the fewest failures, of those the one polled longest ago.
   */
  takeProbe(series: Iterable<TaskState>): TaskState | undefined {
    this.#probesLatest = !this.#probesLatest;
    let best: Slot | undefined;
    for (const { slot } of series) {
      if (slot !== undefined && (best === undefined || isBetterProbe(slot, best, this.#probesLatest))) best = slot;
    }
    return best && this.#taken(best.state, LANES.well);
  }

  /** When the next task is due; infinite without one, or if all are in flight or held back by others. */
  nextDue(isSeriesHeld = false): number {
    let next = Number.POSITIVE_INFINITY;
    for (const queue of this.#queues.values()) {
      if (this.#isHeld(queue, isSeriesHeld)) continue;
      const { heap } = queue;
      while (heap.first !== undefined && !isCurrent(heap.first)) heap.pop();
      next = Math.min(next, heap.first?.due ?? Number.POSITIVE_INFINITY);
    }
    return next;
  }

  /** Puts back a task that was taken: for its next slot, or `afterMs` from now. */
  settle(state: TaskState, now: number, afterMs?: number): void {
    this.#inFlight.delete(state);
    // Not sooner than half an interval: the first poll is immediate, and its grid may be just behind it.
    const { id, intervalMs } = state.task;
    const slot = nextSlot(now + intervalMs / 2, intervalMs, unitHash(id) * intervalMs);
    if (!state.isGone) this.#schedule(state, afterMs === undefined ? slot : now + afterMs);
    for (const { slot: other } of state.appliance?.tasks ?? []) {
      if (other !== undefined && other.lane !== laneOf(other.state)) this.#schedule(other.state, other.due);
    }
    const parked = this.#parked;
    this.#parked = [];
    for (const one of parked) if (isCurrent(one)) this.#schedule(one.state, one.due);
  }

  wake(state: TaskState, now: number, withinMs: number): void {
    const due = now + unitHash(state.task.id) * withinMs;
    // Even if it is due: its lane may have changed.
    if (state.slot !== undefined) this.#schedule(state, Math.min(state.slot.due, due));
  }

  #schedule(state: TaskState, due: number): void {
    const lane = laneOf(state);
    const isSeries = state.appliance !== undefined;
    const key = `${isSeries} ${lane} ${lane === LANES.well ? state.task.intervalMs : ''}`;
    state.slot = { state, lane, due };
    entryOf(this.#queues, key, () => ({ lane, isSeries, heap: new Heap<Slot>() })).heap.push(state.slot);
  }

  /** Of the lane that is served first, the queue whose first task is latest by its interval. */
  #mostOverdue(now: number, isSeriesHeld: boolean): Queue | undefined {
    let best: Queue | undefined;
    let latest = 0;
    for (const queue of this.#queues.values()) {
      const { first } = queue.heap;
      if (first === undefined || first.due > now || this.#isHeld(queue, isSeriesHeld)) continue;
      const lateness = (now - first.due) / first.state.task.intervalMs;
      if (best !== undefined && (queue.lane > best.lane || (queue.lane === best.lane && lateness <= latest))) continue;
      best = queue;
      latest = lateness;
    }
    return best;
  }

  #isHeld({ lane, isSeries }: Queue, isSeriesHeld: boolean): boolean {
    if (isSeries && isSeriesHeld) return true;
    return isFailing(lane) && [...this.#inFlight.values()].filter(isFailing).length >= this.#limits.failing;
  }

  #mayStart({ state, lane }: Slot): boolean {
    if (state.appliance === undefined) return true;
    const { serial } = state.appliance;
    const besides = [...this.#inFlight].filter(([{ task }]) => task.appliance?.serial === serial);
    if (isFailing(lane) && besides.some(([, other]) => isFailing(other))) return false;
    return besides.length < this.#limits.perAppliance;
  }

  #taken(state: TaskState, lane: number): TaskState {
    state.slot = undefined;
    this.#inFlight.set(state, lane);
    return state;
  }
}

function laneOf({ task, failures, appliance }: TaskState): number {
  if (task.first) return LANES.first;
  const isSuspect = (appliance?.failures ?? 0) >= SUSPECT_AFTER;
  if (failures === 0) return isSuspect ? SUSPECT_AFTER : LANES.well;
  return Math.min(failures, LANES.mostFailures);
}

function isFailing(lane: number): boolean {
  return lane > LANES.first && lane < LANES.well;
}

function isCurrent(slot: Slot): boolean {
  return slot.state.slot === slot && !slot.state.isGone;
}

function isBetterProbe(one: Slot, other: Slot, isLatestBetter: boolean): boolean {
  const later = (one.state.confirmedAt ?? 0) - (other.state.confirmedAt ?? 0);
  if (isLatestBetter && later !== 0) return later > 0;
  const difference = rankOf(one.state) - rankOf(other.state);
  return difference < 0 || (difference === 0 && one.due < other.due);
}

function rankOf({ failures, resting }: TaskState): number {
  return resting === undefined ? Math.min(failures, LANES.mostFailures) : LANES.well;
}
