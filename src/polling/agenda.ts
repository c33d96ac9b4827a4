import type { Task } from '../metrics/task.ts';
import { unitHash } from '../runtime/random.ts';
import { Heap } from './heap.ts';

/** The first moment after `now` on the grid `phase + n * interval`: an overrun waits for its next slot. */
export function nextSlot(now: number, intervalMs: number, phase: number): number {
  return phase + (Math.floor((now - phase) / intervalMs) + 1) * intervalMs;
}

/** How many polls may be under way at once. */
export interface AgendaLimits {
  /** Of one appliance. */
  readonly perAppliance: number;
  /** Of all appliances whose latest poll failed, together: they may be hanging, and must not hold all workers. */
  readonly suspects: number;
}

interface Plan {
  task: Task;
  due: number;
  /** Entries of the heap with an older version are void: removing from the middle of a heap is not worth its cost. */
  version: number;
  state: 'waiting' | 'taken';
}

interface Slot {
  readonly plan: Plan;
  readonly version: number;
}

/**
 * What is due next. It starts nothing and reads no clock; times are monotonic milliseconds.
 *
 * The task that is latest relative to its own interval goes first. A task taken is off the agenda until it is settled,
 * so two polls of it cannot overlap. Its phase comes from its name: a sweep is even, and a restart no stampede.
 */
export class Agenda {
  readonly #limits: AgendaLimits;
  readonly #plans = new Map<string, Plan>();
  /** Tasks that left while they were under way: one that comes back before it is settled is still under way. */
  readonly #leaving = new Map<string, Plan>();
  readonly #heaps = new Map<number, Heap<Slot>>();
  readonly #underWay = new Map<string, number>();
  readonly #suspects = new Set<string>();
  #parked: Slot[] = [];

  constructor(limits: AgendaLimits) {
    this.#limits = limits;
  }

  /** How many tasks there are. */
  get size(): number {
    return this.#plans.size;
  }

  /** The tasks there are. */
  *tasks(): Generator<Task> {
    for (const { task } of this.#plans.values()) yield task;
  }

  has(id: string): boolean {
    return this.#plans.has(id);
  }

  /** Makes the agenda hold these tasks and no others; new ones are due at once. Returns the ones that left. */
  reconcile(tasks: readonly Task[], now: number): readonly Task[] {
    const wanted = new Set<string>();
    for (const task of tasks) {
      wanted.add(task.id);
      const plan = this.#plans.get(task.id) ?? this.#returning(task.id);
      if (plan === undefined) {
        // Spread over one millisecond in the order of the phases: no appliance is served whole before the next one.
        const fresh: Plan = { task, due: now + unitHash(task.id), version: 0, state: 'waiting' };
        this.#plans.set(task.id, fresh);
        this.#schedule(fresh, fresh.due);
      } else {
        const sooner = task.intervalMs < plan.task.intervalMs;
        plan.task = task;
        if (sooner && plan.state === 'waiting') this.#schedule(plan, Math.min(plan.due, this.#slotOf(plan, now)));
      }
    }
    const gone = [...this.#plans.values()].filter(({ task }) => !wanted.has(task.id)).map(({ task }) => task);
    for (const { id } of gone) {
      const plan = this.#plans.get(id);
      if (plan !== undefined) plan.version += 1;
      if (plan?.state === 'taken') this.#leaving.set(id, plan);
      this.#plans.delete(id);
    }
    const serials = new Set(tasks.map(({ appliance }) => appliance?.serial));
    for (const serial of this.#suspects) if (!serials.has(serial)) this.#suspects.delete(serial);
    // A suspect that left makes room for the others.
    this.#unpark();
    return gone;
  }

  /** The most overdue task that may be polled now; undefined when none is due, or those due must wait for others. */
  take(now: number): Task | undefined {
    for (;;) {
      const heap = this.#mostOverdue(now);
      const slot = heap?.pop();
      if (slot === undefined) return undefined;
      if (!isCurrent(slot)) continue;
      const { plan } = slot;
      if (!this.#mayStart(plan.task)) {
        this.#parked.push(slot);
        continue;
      }
      plan.state = 'taken';
      this.#count(plan.task, 1);
      return plan.task;
    }
  }

  /**
   * A task to ask whether the API is back, due or not: the one due first of an appliance that did not fail last, where
   * there is one. Else what hangs anyway would be asked for ever. Undefined when all are under way.
   */
  takeProbe(): Task | undefined {
    let best: Plan | undefined;
    for (const plan of this.#plans.values()) {
      if (plan.state === 'waiting' && (best === undefined || this.#isBetterProbe(plan, best))) best = plan;
    }
    if (best === undefined) return undefined;
    best.version += 1;
    best.state = 'taken';
    this.#count(best.task, 1);
    return best.task;
  }

  /** When the next task is due; undefined when there is none, or all are under way or held back by others. */
  get nextDue(): number | undefined {
    let first: number | undefined;
    for (const heap of this.#heaps.values()) {
      while (heap.first !== undefined && !isCurrent(heap.first)) heap.pop();
      if (heap.firstKey !== undefined && (first === undefined || heap.firstKey < first)) first = heap.firstKey;
    }
    return first;
  }

  /**
   * Puts a task that was taken back: for its next slot, `afterMs` from now where that is given. `failed` makes its
   * appliance a suspect until a poll of it succeeds again.
   */
  settle(task: Task, now: number, how: { readonly failed: boolean; readonly afterMs?: number | undefined }): void {
    const plan = this.#plans.get(task.id);
    this.#leaving.delete(task.id);
    if (plan !== undefined && task.appliance !== undefined) {
      if (how.failed) this.#suspects.add(task.appliance.serial);
      else this.#suspects.delete(task.appliance.serial);
    }
    this.#count(task, -1);
    if (plan?.state === 'taken') {
      plan.state = 'waiting';
      this.#schedule(plan, how.afterMs === undefined ? this.#slotOf(plan, now) : now + how.afterMs);
    }
    this.#unpark();
  }

  /** Makes tasks due now, as after an outage; those under way are left alone. */
  wake(ids: Iterable<string>, now: number): void {
    for (const id of ids) {
      const plan = this.#plans.get(id);
      if (plan?.state === 'waiting' && plan.due > now) this.#schedule(plan, now + unitHash(id));
    }
  }

  /** Not sooner than half an interval: the first poll comes at once, and its grid may lie just behind it. */
  #slotOf({ task }: Plan, now: number): number {
    return nextSlot(now + task.intervalMs / 2, task.intervalMs, unitHash(task.id) * task.intervalMs);
  }

  #schedule(plan: Plan, due: number): void {
    plan.due = due;
    plan.version += 1;
    const { intervalMs } = plan.task;
    const heap = this.#heaps.get(intervalMs) ?? new Heap<Slot>();
    this.#heaps.set(intervalMs, heap);
    heap.push(due, { plan, version: plan.version });
  }

  /** Of the heaps, one for each interval, the one whose first task is latest by its interval. */
  #mostOverdue(now: number): Heap<Slot> | undefined {
    let latest: { readonly heap: Heap<Slot>; readonly lateness: number } | undefined;
    for (const [intervalMs, heap] of this.#heaps) {
      if (heap.firstKey === undefined || heap.firstKey > now) continue;
      const lateness = (now - heap.firstKey) / intervalMs;
      if (latest === undefined || lateness > latest.lateness) latest = { heap, lateness };
    }
    return latest?.heap;
  }

  #returning(id: string): Plan | undefined {
    const plan = this.#leaving.get(id);
    if (plan === undefined) return undefined;
    this.#leaving.delete(id);
    this.#plans.set(id, plan);
    return plan;
  }

  #mayStart({ appliance }: Task): boolean {
    if (appliance === undefined) return true;
    if ((this.#underWay.get(appliance.serial) ?? 0) >= this.#limits.perAppliance) return false;
    return !this.#suspects.has(appliance.serial) || this.#suspectsUnderWay() < this.#limits.suspects;
  }

  #suspectsUnderWay(): number {
    let total = 0;
    for (const [serial, count] of this.#underWay) if (this.#suspects.has(serial)) total += count;
    return total;
  }

  #isBetterProbe(one: Plan, other: Plan): boolean {
    const failed = ({ task }: Plan) => this.#suspects.has(task.appliance?.serial ?? '');
    return failed(one) === failed(other) ? one.due < other.due : failed(other);
  }

  #count({ appliance }: Task, change: 1 | -1): void {
    if (appliance === undefined) return;
    const { serial } = appliance;
    const count = (this.#underWay.get(serial) ?? 0) + change;
    if (count > 0) this.#underWay.set(serial, count);
    else this.#underWay.delete(serial);
  }

  #unpark(): void {
    const parked = this.#parked;
    this.#parked = [];
    for (const slot of parked) if (isCurrent(slot)) this.#schedule(slot.plan, slot.plan.due);
  }
}

function isCurrent({ plan, version }: Slot): boolean {
  return plan.version === version && plan.state === 'waiting';
}
