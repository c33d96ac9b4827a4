import type { Task } from '../contract/task.ts';
import { failureReason } from '../runtime/failures.ts';
import { LargeMap } from '../runtime/large-map.ts';
import { getOrCreate, increment } from '../runtime/maps.ts';
import { unitHash } from '../runtime/random.ts';
import { intervalFactor } from './effective-interval.ts';
import { ApplianceTasks, PolledTask, phaseOf } from './polled-task.ts';
import type { TaskEvent } from './task-facts.ts';

export interface RegistryOptions {
  readonly intervalMs: number;
  /** How many intervals an unconfirmed value is exposed. */
  readonly staleAfter: number;
  /** How long counters of a task without success are shown; default: for ever. */
  readonly forgetAfterMs?: number;
  readonly allowedPerSecond: () => number;
  /** Whether series of appliances are polled: then only they decide whether the service is up. */
  readonly hasSeries: boolean;
}

/** What a change of the inventory means for one task or appliance. */
export type RegistryChange =
  | { readonly change: 'added' | 'removed' | 'shortened' | 'renamed'; readonly polled: PolledTask }
  | { readonly change: 'appliance removed'; readonly appliance: ApplianceTasks };

/** What a task adds to the counts of the registry. */
interface Share {
  readonly isUnpolled: boolean;
  readonly isInCycle: boolean;
  readonly perSecond: number;
  readonly isPriority: boolean;
  readonly isDeciding: boolean;
  /** Whether the task decides if the service is up, and is suspended because it is forbidden. */
  readonly isForbidden: boolean;
  readonly reason: string | undefined;
}

/**
 * The tasks of one service with their appliances, and counts over all of them. A poll changes the counts by its own task
 * only, so they cost nothing to read. Times are monotonic milliseconds.
 */
export class TaskRegistry {
  /** The suspended tasks, as a set. */
  readonly suspended = new LargeMap<PolledTask, true>(phaseOf);
  readonly #options: RegistryOptions;
  readonly #tasks = new LargeMap<string, PolledTask>(unitHash);
  readonly #appliances = new Map<string, ApplianceTasks>();
  readonly #shares = new LargeMap<PolledTask, Share>(phaseOf);
  /** Why deciding tasks failed in their latest poll: how many, by reason. */
  readonly #reasons = new Map<string, number>();
  #perSecond = { priority: 0, others: 0 };
  #unpolled = 0;
  #deciding = 0;
  #forbidden = 0;
  #shortestMs = Number.POSITIVE_INFINITY;
  /** The current cycle: the tasks that it has polled, and how many belong to it. */
  #cycle = { startedAt: Number.NEGATIVE_INFINITY, polled: new LargeMap<PolledTask, true>(phaseOf), size: 0 };
  #cycleSeconds: number | undefined;

  constructor(options: RegistryOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#shares.size;
  }

  all(): Iterable<PolledTask> {
    return this.#shares.keys();
  }

  get(id: string): PolledTask | undefined {
    return this.#tasks.get(id);
  }

  get appliances(): ReadonlyMap<string, ApplianceTasks> {
    return this.#appliances;
  }

  get unpolled(): number {
    return this.#unpolled;
  }

  /**
   * Whether the task decides if the service is up: each series does; if there is none, the task that lists appliances;
   * in a service without series, each task.
   */
  decides({ task, appliance }: PolledTask): boolean {
    if (this.#appliances.size > 0 || appliance !== undefined) return appliance !== undefined;
    return !this.#options.hasSeries || task.discoversTasks === true;
  }

  /** The tasks that decide, while these are few: there is no appliance. */
  get decidingAccountTasks(): readonly PolledTask[] {
    return this.#appliances.size > 0 ? [] : [...this.all()].filter((polled) => this.decides(polled));
  }

  /** Every task that decides is suspended because the right or the licence is missing. */
  get areAllForbidden(): boolean {
    return this.#deciding > 0 && this.#forbidden === this.#deciding;
  }

  /** The shortest interval of a task that decides. */
  get shortestMs(): number {
    return Number.isFinite(this.#shortestMs) ? this.#shortestMs : this.#options.intervalMs;
  }

  /** The interval of the tasks that a cycle polls: the configured one, or the shortest if all are longer. */
  get cycleMs(): number {
    return Math.max(this.#options.intervalMs, this.shortestMs);
  }

  get cycleSeconds(): number | undefined {
    return this.#cycleSeconds;
  }

  isInCycle(polled: PolledTask): boolean {
    const { task, facts } = polled;
    return this.decides(polled) && task.intervalMs <= this.cycleMs && facts.suspended === undefined;
  }

  /** The factor by which the current limits lengthen intervals; priority tasks keep theirs. */
  get intervalFactor(): number {
    const { priority, others } = this.#perSecond;
    return intervalFactor(others, this.#options.allowedPerSecond(), priority);
  }

  /** Requests a second that healthy tasks need. */
  get demandPerSecond(): number {
    return this.#perSecond.others;
  }

  /** The most frequent reason for which deciding tasks fail; the present one while it holds for any. */
  failureReason(present: string | undefined): string | undefined {
    if (present !== undefined && (this.#reasons.get(present) ?? 0) > 0) return present;
    const [most] = [...this.#reasons].sort(([, count], [, other]) => other - count);
    return most !== undefined && most[1] > 0 ? most[0] : undefined;
  }

  /** When its values become stale, or its counters are to be forgotten; infinite without either. */
  expiresAt({ task, facts }: PolledTask): number {
    const { staleAfter, forgetAfterMs = Number.POSITIVE_INFINITY } = this.#options;
    if (facts.respondedAt === Number.NEGATIVE_INFINITY) return Number.POSITIVE_INFINITY;
    // The interval that applied when the value was confirmed, or the current one if it is longer.
    const intervalMs = Math.max(facts.effectiveIntervalMs, task.intervalMs * this.intervalFactor);
    return facts.respondedAt + (facts.isExposed ? staleAfter * intervalMs : forgetAfterMs);
  }

  /** Changes what is known of the task. */
  observe(polled: PolledTask, event: TaskEvent, now: number, at: number): void {
    const { task, appliance } = polled;
    const applianceReports = appliance?.records.isUp === true;
    polled.observe(event, { task, now, at, intervalFactor: this.intervalFactor, applianceReports });
    this.#count(polled);
    if (event.result !== 'stale' && event.result !== 'forgotten') this.#countInCycle(polled, now);
  }

  /** Replaces the tasks; yields what changes, or nothing where it may be interrupted. */
  *reconcile(tasks: Iterable<Task>, now: number): Generator<RegistryChange | undefined> {
    const listed = new LargeMap<string, true>(unitHash);
    for (const task of tasks) {
      listed.set(task.id, true);
      yield* this.#list(task, now);
      yield;
    }
    for (const polled of this.#shares.keys()) {
      if (!listed.has(polled.task.id)) yield* this.#remove(polled);
      yield;
    }
    yield* this.#recount(now);
  }

  /** A removed task has ended its last poll. */
  forget(polled: PolledTask): void {
    if (polled.isRemoved && this.#tasks.get(polled.task.id) === polled) this.#tasks.delete(polled.task.id);
  }

  *#list(task: Task, now: number): Generator<RegistryChange> {
    const existing = this.#tasks.get(task.id);
    const appliance = task.appliance && this.#applianceOf(task.appliance, now);
    const wasNamed = existing?.task.appliance?.name;
    if (existing === undefined || existing.isRemoved) {
      const polled = existing ?? new PolledTask(task, now, appliance);
      if (existing !== undefined) polled.restart(task, now, appliance);
      this.#tasks.set(task.id, polled);
      appliance?.tasks.add(polled);
      this.#count(polled);
      yield { change: 'added', polled };
      return;
    }
    const isShorter = task.intervalMs < existing.task.intervalMs;
    existing.task = task;
    if (isShorter) yield { change: 'shortened', polled: existing };
    if (wasNamed !== task.appliance?.name) yield { change: 'renamed', polled: existing };
  }

  *#remove(polled: PolledTask): Generator<RegistryChange> {
    const { appliance } = polled;
    polled.isRemoved = true;
    appliance?.tasks.delete(polled);
    this.#count(polled);
    yield { change: 'removed', polled };
    if (appliance?.tasks.size !== 0) return;
    this.#appliances.delete(appliance.serial);
    yield { change: 'appliance removed', appliance };
  }

  /** Counts everything anew, because intervals and deciding tasks may have changed. */
  *#recount(now: number): Generator<undefined> {
    this.#shortestMs = Number.POSITIVE_INFINITY;
    for (const appliance of this.#appliances.values()) {
      appliance.intervalMs = Number.POSITIVE_INFINITY;
      for (const { task } of appliance.tasks) appliance.intervalMs = Math.min(appliance.intervalMs, task.intervalMs);
      this.#shortestMs = Math.min(this.#shortestMs, appliance.intervalMs);
      yield;
    }
    for (const { task } of this.decidingAccountTasks) this.#shortestMs = Math.min(this.#shortestMs, task.intervalMs);
    for (const polled of this.all()) {
      this.#count(polled);
      yield;
    }
    if (this.#cycle.startedAt === Number.NEGATIVE_INFINITY) this.#cycle.startedAt = now;
  }

  #applianceOf({ serial, name }: { readonly serial: string; readonly name: string }, now: number): ApplianceTasks {
    const { staleAfter } = this.#options;
    const appliance = getOrCreate(this.#appliances, serial, () => new ApplianceTasks(serial, name, staleAfter, now));
    appliance.name = name;
    return appliance;
  }

  /** Replaces what a task adds to the counts by what it adds now. */
  #count(polled: PolledTask): void {
    const before = this.#shares.get(polled);
    const share = polled.isRemoved ? undefined : this.#shareOf(polled);
    if (before !== undefined) this.#add(polled, before, -1);
    if (share === undefined) this.#shares.delete(polled);
    else {
      this.#shares.set(polled, share);
      this.#add(polled, share, 1);
    }
    if (share === undefined || !share.isInCycle) this.#cycle.polled.delete(polled);
    if (share !== undefined && polled.facts.suspended !== undefined) this.suspended.set(polled, true);
    else this.suspended.delete(polled);
  }

  #shareOf(polled: PolledTask): Share {
    const { task, facts, isPolled } = polled;
    const { intervalMs, suspendedIntervalMs = intervalMs, requests = 1 } = task;
    const isDeciding = this.decides(polled);
    return {
      isUnpolled: !isPolled,
      isInCycle: this.isInCycle(polled),
      perSecond: (1000 * requests) / (facts.suspended === undefined ? intervalMs : suspendedIntervalMs),
      isPriority: task.priority === true,
      isDeciding,
      isForbidden: isDeciding && facts.suspended === 'forbidden',
      reason: isDeciding && facts.error !== undefined ? failureReason(facts.error) : undefined,
    };
  }

  #add({ appliance }: PolledTask, share: Share, by: 1 | -1): void {
    this.#perSecond[share.isPriority ? 'priority' : 'others'] += by * share.perSecond;
    if (share.isInCycle) this.#cycle.size += by;
    if (share.isDeciding) this.#deciding += by;
    if (share.isForbidden) this.#forbidden += by;
    if (share.reason !== undefined) increment(this.#reasons, share.reason, by);
    if (!share.isUnpolled) return;
    this.#unpolled += by;
    if (appliance !== undefined) appliance.unpolled += by;
  }

  #countInCycle(polled: PolledTask, now: number): void {
    // A cycle without a known list of tasks has not ended.
    if (polled.task.discoversTasks && polled.facts.lastResult === 'failed') return;
    const { startedAt, polled: done, size } = this.#cycle;
    if (this.#shares.get(polled)?.isInCycle) done.set(polled, true);
    if (done.size < size) return;
    if (done.size > 0) this.#cycleSeconds = (now - startedAt) / 1000;
    this.#cycle = { startedAt: now, polled: new LargeMap(phaseOf), size };
  }
}
