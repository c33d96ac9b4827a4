import type { ApplianceFamilies, Task } from '../contract/task.ts';
import { getOrCreate, increment } from '../runtime/maps.ts';
import { PolledAppliance, PolledTask } from './polled-task.ts';

export interface FleetOptions {
  /** The configured interval. */
  readonly intervalMs: number;
  readonly allowedPerSecond: () => number;
  /** The metrics that show the state of an appliance; undefined if no appliance is polled. */
  readonly appliances: ApplianceFamilies | undefined;
}

/** The tasks of one service with their appliances, and what follows from all of them together. */
export class Fleet {
  tasks: readonly PolledTask[] = [];
  /** The tasks that decide whether the service is up: see {@link decides}. */
  deciding: readonly PolledTask[] = [];
  /** By serial. */
  appliances: ReadonlyMap<string, PolledAppliance> = new Map();
  /** The factor by which the present limits lengthen intervals; priority tasks keep theirs. */
  intervalFactor = 1;
  /** Requests a second that healthy tasks need, without those of priority. */
  demandPerSecond = 0;
  /** The shortest interval of a task that decides. */
  shortestMs: number;
  /** The duration of the last cycle; undefined before the first has ended. */
  cycleSeconds: number | undefined;
  readonly #options: FleetOptions;
  #byId: ReadonlyMap<string, PolledTask> = new Map();
  #cycleStartedAt = Number.NEGATIVE_INFINITY;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.shortestMs = options.intervalMs;
  }

  find(id: string): PolledTask | undefined {
    return this.#byId.get(id);
  }

  /**
   * Whether the task decides if the service is up: each series does; if there is none, the task that lists appliances;
   * in a service without series, each task.
   */
  decides({ task, appliance }: PolledTask): boolean {
    if (this.appliances.size > 0 || appliance !== undefined) return appliance !== undefined;
    return this.#options.appliances === undefined || task.discoversTasks === true;
  }

  /** A cycle polls the tasks that decide and have the configured interval, or the shortest one if all have longer ones. */
  isInCycle(polled: PolledTask): boolean {
    const cycleMs = Math.max(this.#options.intervalMs, this.shortestMs);
    return this.decides(polled) && polled.task.intervalMs <= cycleMs && polled.state.suspended === undefined;
  }

  /** How many of the tasks that decide failed in their latest poll, by reason. */
  failures(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { state } of this.deciding) if (state.reason !== undefined) increment(counts, state.reason);
    return counts;
  }

  /** Whether more than half of the tasks that decide failed for this reason in their latest poll. */
  isMostlyFailing(reason: string): boolean {
    return (this.failures().get(reason) ?? 0) > this.deciding.length / 2;
  }

  /**
   * Replaces the tasks in one turn: otherwise a verdict between two turns would see an appliance without its tasks. Returns
   * what has changed.
   */
  adopt(listed: readonly Task[], now: number) {
    const before = { tasks: this.tasks, appliances: this.appliances };
    const byId = new Map<string, PolledTask>();
    const appliances = new Map<string, PolledAppliance>();
    for (const task of listed) {
      if (byId.has(task.id)) continue;
      const { appliance: listing } = task;
      const appliance = listing && getOrCreate(appliances, listing.serial, () => this.#listAppliance(listing, now));
      const polled = this.#list(task, appliance, now);
      byId.set(task.id, polled);
      appliance?.tasks.push(polled);
    }
    this.#byId = byId;
    this.appliances = appliances;
    this.tasks = [...byId.values()];
    this.deciding = this.tasks.filter((polled) => this.decides(polled));
    this.shortestMs = this.deciding.length === 0 ? this.#options.intervalMs : shortestOf(this.deciding);
    for (const appliance of appliances.values()) appliance.intervalMs = shortestOf(appliance.tasks);
    const removedTasks = before.tasks.filter(({ task }) => !byId.has(task.id));
    for (const polled of removedTasks) polled.isRemoved = true;
    if (this.#cycleStartedAt === Number.NEGATIVE_INFINITY) this.#cycleStartedAt = now;
    return {
      removedTasks,
      removedAppliances: [...before.appliances.values()].filter(({ serial }) => !appliances.has(serial)),
      addedAppliances: [...appliances.values()].filter(({ serial }) => !before.appliances.has(serial)),
    };
  }

  /** Measures demand and cycle anew, from all tasks. */
  measure(): void {
    let priorityPerSecond = 0;
    let othersPerSecond = 0;
    for (const { task, state } of this.tasks) {
      const { intervalMs, suspendedIntervalMs = intervalMs, requests = 1 } = task;
      const pollMs = state.suspended === undefined ? intervalMs : Math.max(intervalMs, suspendedIntervalMs);
      if (task.priority) priorityPerSecond += (1000 * requests) / pollMs;
      else othersPerSecond += (1000 * requests) / pollMs;
    }
    this.demandPerSecond = othersPerSecond;
    this.intervalFactor = intervalFactor(othersPerSecond, this.#options.allowedPerSecond(), priorityPerSecond);
    this.#measureCycle();
  }

  /** A cycle ends when each of its tasks has been polled since its start. */
  #measureCycle(): void {
    let endedAt = Number.NEGATIVE_INFINITY;
    for (const polled of this.deciding) {
      if (!this.isInCycle(polled)) continue;
      const { polledAt, lastResult } = polled.state;
      // A cycle without a known list of tasks has not ended.
      if (polledAt <= this.#cycleStartedAt || (polled.task.discoversTasks && lastResult === 'failed')) return;
      endedAt = Math.max(endedAt, polledAt);
    }
    if (endedAt === Number.NEGATIVE_INFINITY) return;
    this.cycleSeconds = (endedAt - this.#cycleStartedAt) / 1000;
    this.#cycleStartedAt = endedAt;
  }

  /** The appliance as it is listed now, without its previous tasks. */
  #listAppliance({ serial, name }: NonNullable<Task['appliance']>, now: number): PolledAppliance {
    const appliance = this.appliances.get(serial) ?? new PolledAppliance(serial, name, now);
    appliance.name = name;
    appliance.tasks = [];
    return appliance;
  }

  #list(task: Task, appliance: PolledAppliance | undefined, now: number): PolledTask {
    const known = this.#byId.get(task.id);
    if (known === undefined) return new PolledTask(task, appliance, now);
    const before = known.task;
    known.task = task;
    known.appliance = appliance;
    if (task.intervalMs < before.intervalMs) known.hasten(now + known.phase * task.intervalMs);
    else if (task.names !== before.names) known.hasten(Number.NEGATIVE_INFINITY);
    return known;
  }
}

function shortestOf(tasks: readonly PolledTask[]): number {
  return tasks.reduce((shortest, { task }) => Math.min(shortest, task.intervalMs), Number.POSITIVE_INFINITY);
}

/** Waiting tasks get at least this share of the limits, however many requests the priority tasks need. */
const MIN_REMAINING = 0.1;

/**
 * Returns the factor by which the limits lengthen intervals; 1 if every request fits. All arguments are requests per
 * second. Priority tasks keep their interval.
 */
export function intervalFactor(demand: number, allowed: number, priority = 0): number {
  const remaining = Math.max(allowed - priority, MIN_REMAINING * allowed);
  return remaining > 0 && Number.isFinite(remaining) ? Math.max(1, demand / remaining) : 1;
}

/** Returns the longest time between two polls of a healthy task: the next slot is half to one and a half intervals later. */
export function maxAgeMs(intervalMs: number, factor: number): number {
  return intervalMs * (factor + 0.5);
}
