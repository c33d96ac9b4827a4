import { unitHash } from '../runtime/random.ts';
import { Heap } from './heap.ts';
import type { TaskState } from './task-state.ts';

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

/** Tasks with at least this many failures in a row share one lane. */
const MOST_FAILURES_TOLD_APART = 10;

/**
 * After this many failures in a row, of any tasks, an appliance is a suspect: its other tasks wait as if they had
 * failed twice.
 */
const SUSPECT_AFTER = 2;

interface Slot {
  readonly state: TaskState;
  /** Entries of an older version are void: removal from the middle of a heap would be expensive. */
  readonly version: number;
}

/** The tasks that wait by one rule, the one due first in front. */
interface Queue {
  /** `first` goes before all others; 0 to 10: failures in a row. */
  readonly lane: 'first' | number;
  readonly isSeries: boolean;
  readonly heap: Heap<Slot>;
}

/**
 * Decides which task is due next. Starts nothing and reads no clock; times are monotonic milliseconds.
 *
 * The task that is latest relative to its interval goes first. Tasks whose last poll failed share a few workers, one
 * for each appliance, and the one with the fewest failures in a row goes first. A task that was taken is off the agenda
 * until it is settled, so two polls of it cannot overlap. Its phase comes from its name, so a sweep is even and a
 * restart is no stampede.
 */
export class Agenda {
  readonly #limits: AgendaLimits;
  readonly #queues = new Map<string, Queue>();
  /** Polls in flight, and polls that failed in a row, by appliance. */
  readonly #underWay = new Map<string, number>();
  readonly #inVain = new Map<string, number>();
  /** Tasks that wait with failed ones because their appliance is a suspect. */
  readonly #diverted = new Map<string, Set<TaskState>>();
  readonly #failingUnderWay = new Set<TaskState>();
  #parked: Slot[] = [];

  constructor(limits: AgendaLimits) {
    this.#limits = limits;
  }

  /** Adds a new task, which is due at once. */
  add(state: TaskState, now: number): void {
    // Spread over one millisecond in the order of the phases, so that no appliance is polled completely before the next
    // one.
    if (!state.isTaken) this.#schedule(state, now + unitHash(state.task.id));
  }

  remove(state: TaskState): void {
    state.version += 1;
    this.#unpark();
  }

  /** Moves a task forward after its interval has become shorter. */
  hasten(state: TaskState, now: number): void {
    if (!state.isTaken && this.#slotOf(state, now) < state.due) this.#schedule(state, this.#slotOf(state, now));
  }

  /**
   * The most overdue task that may be polled now; undefined if none is due, or those due have to wait for others.
   * Series of appliances may be held.
   */
  take(now: number, isSeriesHeld = false): TaskState | undefined {
    for (;;) {
      const queue = this.#mostOverdue(now, isSeriesHeld);
      const slot = queue?.heap.pop();
      if (queue === undefined || slot === undefined) return undefined;
      const { state } = slot;
      if (!isCurrent(slot)) continue;
      const lane = this.#laneOf(state);
      if (lane !== queue.lane) this.#schedule(state, state.due);
      else if (this.#mayStart(state, lane)) return this.#taken(state, lane);
      else this.#parked.push(slot);
    }
  }

  /**
   * A task for probing the API, due or not: the one with the fewest failures, and of those the one polled longest ago.
   */
  takeProbe(series: Iterable<TaskState>): TaskState | undefined {
    let best: TaskState | undefined;
    for (const state of series) {
      if (state.isTaken || state.isGone) continue;
      const isBetter =
        best === undefined || rank(state) < rank(best) || (rank(state) === rank(best) && state.due < best.due);
      if (isBetter) best = state;
    }
    if (best === undefined) return undefined;
    best.version += 1;
    return this.#taken(best, 0);
  }

  /** When the next task is due; undefined without one, or if all are in flight or held back by others. */
  nextDue(isSeriesHeld = false): number | undefined {
    let first: number | undefined;
    for (const queue of this.#queues.values()) {
      if (this.#isHeld(queue, isSeriesHeld)) continue;
      const { heap } = queue;
      while (heap.first !== undefined && !isCurrent(heap.first)) heap.pop();
      if (heap.firstKey !== undefined && (first === undefined || heap.firstKey < first)) first = heap.firstKey;
    }
    return first;
  }

  /** Puts back a task that was taken: for its next slot, or `afterMs` from now. */
  settle(state: TaskState, now: number, afterMs?: number): void {
    state.isTaken = false;
    const serial = state.task.appliance?.serial;
    if (serial !== undefined && state.failures === 0) this.forget(serial);
    else if (serial !== undefined) this.#inVain.set(serial, (this.#inVain.get(serial) ?? 0) + 1);
    this.#count(state, -1);
    this.#failingUnderWay.delete(state);
    if (!state.isGone) this.#schedule(state, afterMs === undefined ? this.#slotOf(state, now) : now + afterMs);
    this.#unpark();
  }

  /** An appliance answers, or is not polled any more: it is not a suspect. */
  forget(serial: string): void {
    this.#inVain.delete(serial);
    const diverted = this.#diverted.get(serial) ?? new Set();
    this.#diverted.delete(serial);
    for (const state of diverted) if (!state.isTaken && !state.isGone) this.#schedule(state, state.due);
  }

  /** Makes a task due soon, unless it is in flight. */
  wake(state: TaskState, now: number, withinMs: number): void {
    const due = now + unitHash(state.task.id) * withinMs;
    if (!state.isTaken && state.due > due) this.#schedule(state, due);
  }

  /** Not sooner than half an interval: the first poll is immediate, and its grid may be just behind it. */
  #slotOf({ task }: TaskState, now: number): number {
    return nextSlot(now + task.intervalMs / 2, task.intervalMs, unitHash(task.id) * task.intervalMs);
  }

  #schedule(state: TaskState, due: number): void {
    state.due = due;
    state.version += 1;
    const { intervalMs, appliance } = state.task;
    const lane = this.#laneOf(state);
    const isSeries = appliance !== undefined;
    const key = `${isSeries} ${lane} ${lane === 0 ? intervalMs : ''}`;
    const queue = this.#queues.get(key) ?? { lane, isSeries, heap: new Heap<Slot>() };
    this.#queues.set(key, queue);
    queue.heap.push(due, { state, version: state.version });
    if (appliance === undefined || state.failures > 0 || lane === 0) return;
    const diverted = this.#diverted.get(appliance.serial) ?? new Set();
    this.#diverted.set(appliance.serial, diverted.add(state));
  }

  #laneOf({ task, failures }: TaskState): Queue['lane'] {
    if (task.first) return 'first';
    const isSuspect = (this.#inVain.get(task.appliance?.serial ?? '') ?? 0) >= SUSPECT_AFTER;
    return failures === 0 && isSuspect ? SUSPECT_AFTER : Math.min(failures, MOST_FAILURES_TOLD_APART);
  }

  /** The queue whose first task is latest by its interval; tasks with more failures wait for those with fewer. */
  #mostOverdue(now: number, isSeriesHeld: boolean): Queue | undefined {
    let latest: { readonly queue: Queue; readonly lateness: number } | undefined;
    let least: Queue | undefined;
    for (const queue of this.#queues.values()) {
      const { first, firstKey } = queue.heap;
      if (first === undefined || firstKey === undefined || firstKey > now) continue;
      if (queue.lane === 'first') return queue;
      if (this.#isHeld(queue, isSeriesHeld)) continue;
      if (queue.lane > 0) {
        if (least === undefined || queue.lane < Number(least.lane)) least = queue;
        continue;
      }
      const lateness = (now - firstKey) / first.state.task.intervalMs;
      if (latest === undefined || lateness > latest.lateness) latest = { queue, lateness };
    }
    return least ?? latest?.queue;
  }

  #isHeld({ lane, isSeries }: Queue, isSeriesHeld: boolean): boolean {
    if (isSeries && isSeriesHeld) return true;
    return lane !== 'first' && lane > 0 && this.#failingUnderWay.size >= this.#limits.failing;
  }

  #mayStart({ task: { appliance } }: TaskState, lane: Queue['lane']): boolean {
    if (appliance === undefined) return true;
    const isOfAppliance = ({ task }: TaskState) => task.appliance?.serial === appliance.serial;
    if (lane !== 0 && [...this.#failingUnderWay].some(isOfAppliance)) return false;
    return (this.#underWay.get(appliance.serial) ?? 0) < this.#limits.perAppliance;
  }

  #taken(state: TaskState, lane: Queue['lane']): TaskState {
    state.isTaken = true;
    this.#count(state, 1);
    if (lane !== 'first' && lane > 0) this.#failingUnderWay.add(state);
    return state;
  }

  #count({ task: { appliance } }: TaskState, change: 1 | -1): void {
    if (appliance === undefined) return;
    const { serial } = appliance;
    const count = (this.#underWay.get(serial) ?? 0) + change;
    if (count > 0) this.#underWay.set(serial, count);
    else this.#underWay.delete(serial);
  }

  #unpark(): void {
    const parked = this.#parked;
    this.#parked = [];
    for (const slot of parked) if (isCurrent(slot)) this.#schedule(slot.state, slot.state.due);
  }
}

function isCurrent({ state, version }: Slot): boolean {
  return state.version === version && !state.isTaken && !state.isGone;
}

function rank({ failures, resting }: TaskState): number {
  return resting === undefined ? Math.min(failures, MOST_FAILURES_TOLD_APART) : Number.POSITIVE_INFINITY;
}
