import { LargeMap } from '../runtime/large-map.ts';
import type { Heap } from './heap.ts';
import { type PolledTask, phaseOf, taskHeap } from './polled-task.ts';

/** Tasks that are known to fail share this part of the workers, because they may hang. */
const FAILING_SHARE = 1 / 4;

/** Tasks by the moment at which they are due, each in one heap. */
class Lanes {
  /** Priority tasks, and tasks on which a verdict waits. */
  readonly urgent = taskHeap();
  /** The latest poll has failed, or the appliance has failed twice in a row. */
  readonly doubtful = taskHeap();
  /** The latest two polls have failed, or more. */
  readonly failing = taskHeap();
  readonly well = taskHeap();

  of({ facts, appliance, task }: PolledTask): Heap<PolledTask> {
    if (facts.lastResult === 'failed') return facts.failures > 1 ? this.failing : this.doubtful;
    if (appliance?.isDoubtful) return this.doubtful;
    return task.priority ? this.urgent : this.well;
  }

  hasFailing(heap: Heap<PolledTask> | undefined): boolean {
    return heap === this.doubtful || heap === this.failing;
  }
}

/**
 * Decides which task is polled next. Starts nothing and reads no clock; times are monotonic milliseconds. A task is in one
 * heap, or in flight. What is known to fail shares a quarter of the workers, and polls on which a verdict waits may hang,
 * too: together they leave one worker to the series that are well.
 */
export class Agenda {
  readonly #maxFailing: number;
  readonly #maxHanging: number;
  readonly #account = new Lanes();
  readonly #series = new Lanes();
  readonly #heaps = new LargeMap<PolledTask, Heap<PolledTask>>(phaseOf);
  /** The heap from which each task in flight was taken. */
  readonly #inFlight = new Map<PolledTask, Heap<PolledTask> | undefined>();

  constructor(workers: number) {
    this.#maxFailing = Math.max(1, Math.floor(workers * FAILING_SHARE));
    this.#maxHanging = Math.max(1, workers - 1);
  }

  get isSeriesInFlight(): boolean {
    return [...this.#inFlight.keys()].some(({ appliance }) => appliance !== undefined);
  }

  /** The series that is due first among those that have failed least. */
  get firstSeries(): PolledTask | undefined {
    const { urgent, well, doubtful, failing } = this.#series;
    return urgent.first ?? well.first ?? doubtful.first ?? failing.first;
  }

  /** Returns the time at which the task is due; undefined while it is in flight. */
  dueOf(polled: PolledTask): number | undefined {
    return this.#heaps.get(polled)?.keyOf(polled);
  }

  isInFlight(polled: PolledTask): boolean {
    return this.#inFlight.has(polled);
  }

  /** Schedules a task that is not in flight, or moves it. */
  place(polled: PolledTask, due: number): void {
    this.#put(polled, this.#lanesOf(polled).of(polled), due);
  }

  /** Makes a task due by then, unless it is due earlier or in flight. */
  placeEarlier(polled: PolledTask, due: number): void {
    if (due < (this.dueOf(polled) ?? Number.NEGATIVE_INFINITY)) this.place(polled, due);
  }

  /** Polls it before all others. */
  pollNow(polled: PolledTask): void {
    if (!this.#inFlight.has(polled)) this.#put(polled, this.#lanesOf(polled).urgent, Number.NEGATIVE_INFINITY);
  }

  /** Moves tasks to the heaps to which they belong now. */
  regroup(tasks: Iterable<PolledTask>): void {
    for (const polled of tasks) {
      const due = this.dueOf(polled);
      if (due !== undefined && due > Number.NEGATIVE_INFINITY) this.place(polled, due);
    }
  }

  remove(polled: PolledTask): void {
    this.#heaps.get(polled)?.delete(polled);
    this.#heaps.delete(polled);
  }

  /** Takes the next task that is due. Without `withSeries` no series is taken, because an outage is being probed. */
  take(now: number, withSeries: boolean): PolledTask | undefined {
    const heap = this.#nextHeap(now, withSeries);
    return heap?.first && this.start(heap.first);
  }

  /** Returns the time at which the next task is due that may be polled; infinite if there is none. */
  nextDue(withSeries: boolean): number {
    const open = this.#lanes(withSeries).flatMap((lanes) => this.#open(lanes));
    return open.reduce((next, { firstKey }) => Math.min(next, firstKey), Number.POSITIVE_INFINITY);
  }

  start(polled: PolledTask): PolledTask {
    this.#inFlight.set(polled, this.#heaps.get(polled));
    this.remove(polled);
    return polled;
  }

  /** The task is no longer in flight, and is in no heap. */
  end(polled: PolledTask): void {
    this.#inFlight.delete(polled);
  }

  /**
   * Urgent tasks come first. Of the others, the task that is latest relative to its interval comes next; of those that
   * may hang, the one that failed least often.
   */
  #nextHeap(now: number, withSeries: boolean): Heap<PolledTask> | undefined {
    let next: Heap<PolledTask> | undefined;
    for (const lanes of this.#lanes(withSeries)) {
      for (const heap of this.#open(lanes)) {
        if (heap.firstKey > now || (heap === lanes.failing && lanes.doubtful.firstKey <= now)) continue;
        if (heap === this.#series.urgent && this.#isLastWorkerReserved(now)) continue;
        if (heap === lanes.urgent) return heap;
        if (next === undefined || lateness(heap, now) > lateness(next, now)) next = heap;
      }
    }
    return next;
  }

  #lanes(withSeries: boolean): readonly Lanes[] {
    return withSeries ? [this.#account, this.#series] : [this.#account];
  }

  #open({ urgent, doubtful, failing, well }: Lanes): readonly Heap<PolledTask>[] {
    return this.#failingInFlight < this.#maxFailing ? [urgent, doubtful, failing, well] : [urgent, well];
  }

  /** How many tasks in flight are known to fail. */
  get #failingInFlight(): number {
    return [...this.#inFlight.values()].filter(
      (heap) => this.#account.hasFailing(heap) || this.#series.hasFailing(heap),
    ).length;
  }

  /** Whether the last free worker is reserved for a series that is due and does not fail. */
  #isLastWorkerReserved(now: number): boolean {
    if (this.#series.well.firstKey > now) return false;
    const forVerdicts = [...this.#inFlight.values()].filter((heap) => heap === this.#series.urgent).length;
    return this.#failingInFlight + forVerdicts >= this.#maxHanging;
  }

  #lanesOf({ appliance }: PolledTask): Lanes {
    return appliance === undefined ? this.#account : this.#series;
  }

  #put(polled: PolledTask, heap: Heap<PolledTask>, due: number): void {
    const before = this.#heaps.get(polled);
    if (before !== heap) before?.delete(polled);
    this.#heaps.set(polled, heap);
    heap.set(polled, due);
  }
}

function lateness({ first, firstKey }: Heap<PolledTask>, now: number): number {
  return (now - firstKey) / (first?.task.intervalMs ?? 1);
}
