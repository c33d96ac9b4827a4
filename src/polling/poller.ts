import type { Explain } from '../contract/causes.ts';
import type { PollResult } from '../contract/poll-result.ts';
import type { ServiceWarning } from '../contract/service-warning.ts';
import type { PollSink } from '../contract/sink.ts';
import type { ApplianceFamilies, Collector, Task } from '../contract/task.ts';
import type { Clock } from '../runtime/clock.ts';
import { asError } from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import { runInSlices, runInTurn } from '../runtime/slices.ts';
import { Agenda } from './agenda.ts';
import { AppliancePublisher } from './appliance-publisher.ts';
import { EarlierPolls } from './earlier-polls.ts';
import { Heap } from './heap.ts';
import { type Failure, poll, type Response } from './poll.ts';
import { type ApplianceTasks, type PolledTask, taskHeap } from './polled-task.ts';
import { dueAfter } from './schedule.ts';
import { ServiceMonitor } from './service-monitor.ts';
import { ServiceState } from './service-state.ts';
import { type RegistryOptions, TaskRegistry } from './task-registry.ts';
import { RECORDS, RESPONSES } from './verdict.ts';

export interface PollerOptions extends Omit<RegistryOptions, 'hasSeries'> {
  readonly collector: Collector;
  readonly workers: number;
  readonly sink: PollSink;
  readonly isWaiting: () => boolean;
  readonly warnings: () => readonly ServiceWarning[];
  readonly explain: Explain;
  readonly appliances: ApplianceFamilies | undefined;
}

export interface PollerDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** The longest sleep, in milliseconds: timers stop while the machine is suspended. */
const MAX_SLEEP_MS = 10_000;

/** If the poller did not run for this long, in milliseconds, the process or the machine was paused. */
const PAUSE_MS = 2 * MAX_SLEEP_MS;

/**
 * Polls the tasks of one service. Each poll becomes an outcome, the outcome changes what is known of its task, and from
 * that follow the verdicts on its appliance and on the service, what is exposed and logged, and when it is polled next.
 */
export class Poller {
  readonly registry: TaskRegistry;
  readonly monitor: ServiceMonitor;
  readonly #options: PollerOptions;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #service: ServiceState;
  readonly #agenda: Agenda;
  readonly #publisher: AppliancePublisher;
  readonly #earlierPolls: EarlierPolls;
  /** When the values of a task become stale, or its counters are forgotten. */
  readonly #expiries = taskHeap();
  /** When a verdict has to be reviewed because nothing has happened. */
  readonly #reviews = new Heap<ApplianceTasks | ServiceState>();
  #resumedAt: number;
  #ranAt: number;
  #reconciled: Promise<void> = Promise.resolve();
  #wake = new AbortController();

  constructor(options: PollerOptions, { clock, random, log }: PollerDependencies) {
    const { workers, sink, isWaiting, warnings, explain, appliances: families, collector, staleAfter } = options;
    const { api } = collector;
    const now = clock.monotonic();
    this.#options = options;
    this.#clock = clock;
    this.#random = random;
    this.#resumedAt = now;
    this.#ranAt = now;
    this.#agenda = new Agenda(workers);
    this.#publisher = new AppliancePublisher(api, sink, families);
    this.registry = new TaskRegistry({ ...options, hasSeries: families !== undefined });
    const [registry, agenda] = [this.registry, this.#agenda];
    this.#earlierPolls = new EarlierPolls(registry, agenda, clock, () => this.#wake.abort('woken'));
    // More failures in a row than workers: that many polls can hang at once while all others succeed.
    const maxFailures = 2 * workers;
    this.#service = new ServiceState({ registry, agenda, random, staleAfter, maxFailures, now });
    this.monitor = new ServiceMonitor({
      api,
      registry,
      service: this.#service,
      isWaiting,
      warnings,
      explain,
      clock,
      log,
    });
  }

  /** Resolves when the last poll in flight has ended. Rejects if a defect has ended it. */
  run(signal: AbortSignal): Promise<void> {
    return this.#runUntil(signal, () => false);
  }

  /** Polls everything once, also tasks that appear meanwhile; resolves when all are polled or the service is down. */
  runOnce(signal: AbortSignal): Promise<void> {
    return this.#runUntil(signal, () => this.#service.isUp === false || this.registry.unpolled === 0);
  }

  /** Exposes the result of a previous process, as if it had been polled `at`, in monotonic milliseconds. */
  async restore(task: Task, pollResult: PollResult, at: number): Promise<void> {
    await this.#reconcile();
    const polled = this.registry.get(task.id);
    if (polled === undefined) return;
    await this.#options.sink.accept(task, pollResult);
    this.registry.observe(polled, { result: 'restored', respondedAt: at }, at, this.#clock.now());
    this.#setExpiry(polled);
    await this.expire();
  }

  /**
   * Removes values that have become stale, and lets time take effect on the verdicts. Does nothing if nothing is due.
   */
  expire(): Promise<void> {
    return runInSlices(this.#elapse(this.#clock.monotonic()), this.#clock);
  }

  async #runUntil(signal: AbortSignal, isOver: () => boolean): Promise<void> {
    const inFlight = new Set<Promise<void>>();
    const defects: Error[] = [];
    let isStopped = false;
    const stop = () => {
      isStopped = true;
      this.#wake.abort('stopped');
    };
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    await this.#reconcile();
    while (!isStopped) {
      await this.expire();
      const now = this.#clock.monotonic();
      const isFree = inFlight.size < this.#options.workers;
      const polled = isFree && !isStopped ? this.#takeDue(now) : undefined;
      if (polled === undefined) {
        if (isStopped) break;
        this.#wake = new AbortController();
        await this.#clock.sleep(this.#idleMs(now, isFree), this.#wake.signal);
        continue;
      }
      const start = () => {
        const ended = this.#poll(polled, signal)
          .catch((thrown: unknown) => {
            defects.push(asError(thrown));
            stop();
          })
          .finally(() => {
            inFlight.delete(ended);
            if (isOver()) stop();
            this.#wake.abort('polled');
          });
        inFlight.add(ended);
      };
      await runInTurn(start, this.#clock);
    }
    await Promise.all(inFlight);
    signal.removeEventListener('abort', stop);
    const [defect] = defects;
    if (defect !== undefined) throw defect;
  }

  #takeDue(now: number): PolledTask | undefined {
    const isDown = this.#service.isUp === false;
    // A probe leaves even if nothing is due: an outage may outlast every slot.
    return (isDown ? this.#service.takeProbe(now) : undefined) ?? this.#agenda.take(now, !isDown);
  }

  /** Returns the time until something is due. Nothing is due at `now`. */
  #idleMs(now: number, isFree: boolean): number {
    const dueAt = isFree ? this.#agenda.nextDue(this.#service.isUp !== false) : Number.POSITIVE_INFINITY;
    const probeAt = isFree ? this.#service.nextProbeAt : Number.POSITIVE_INFINITY;
    const next = Math.min(dueAt, probeAt, this.#expiries.firstKey, this.#reviews.firstKey, now + MAX_SLEEP_MS);
    return Math.max(0, next - now);
  }

  async #poll(polled: PolledTask, signal: AbortSignal): Promise<void> {
    const { sink } = this.#options;
    const { task } = polled;
    const outcome = await poll(task, signal, this.#clock, sink);
    // This also follows a failure, because tasks that waited for the first response need not wait for a success. Tasks
    // come before verdicts, because an inventory that was read says nothing about series.
    if (task.discoversTasks && outcome.result !== 'aborted') await this.#reconcile();
    const now = this.#clock.monotonic();
    this.#agenda.end(polled);
    if (polled.isRemoved) {
      sink.withdraw(task.id);
      this.registry.forget(polled);
      return;
    }
    if (outcome.result !== 'aborted') this.#applyOutcome(polled, outcome, now);
    // A verdict that waits for this task may have made it due at once.
    if (this.#agenda.dueOf(polled) !== undefined) return;
    const context = {
      now,
      random: this.#random,
      decides: this.registry.decides(polled),
      isServiceUp: this.#service.isUp !== false,
    };
    this.#agenda.place(polled, dueAfter(polled, outcome, context));
  }

  #applyOutcome(polled: PolledTask, outcome: Response | Failure, now: number): void {
    const before = polled.facts;
    this.registry.observe(polled, outcome, now, this.#clock.now());
    this.#setExpiry(polled);
    if (outcome.result === 'denied') this.#options.sink.withdraw(polled.task.id, true);
    this.#service.end(polled, before, outcome, now);
    this.#reviewService(now);
    const { appliance, facts } = polled;
    if (appliance !== undefined) {
      if (appliance.countPoll(outcome.result === 'failed')) this.#agenda.regroup(appliance.tasks);
      const intervalMs = appliance.intervalMs * this.registry.intervalFactor;
      const hasRecords = outcome.result === 'records';
      if (hasRecords || outcome.result === 'empty') appliance.responses.succeed(now, before, intervalMs);
      // Records without a time count as new.
      const { newestRecordMs = Number.POSITIVE_INFINITY } = facts;
      const isNew = newestRecordMs > (before.newestRecordMs ?? 0);
      if (hasRecords) appliance.records.succeed(now, before, intervalMs, isNew);
      this.#reviewAppliance(appliance, now);
    }
    this.#earlierPolls.end(polled, before, outcome, now);
    this.monitor.end(polled, before, outcome);
  }

  /** Yields where it may be interrupted. */
  *#elapse(now: number): Generator<void> {
    // While the process did not run, nothing could be polled, and nothing is concluded from it.
    if (now - this.#ranAt > PAUSE_MS) this.#resumedAt = now;
    this.#ranAt = now;
    for (let polled = this.#expiries.first; polled && this.#expiries.firstKey <= now; polled = this.#expiries.first) {
      this.#expire(polled, now);
      yield;
    }
    if (this.#reviews.firstKey > now) return;
    for (let group = this.#reviews.first; group && this.#reviews.firstKey <= now; group = this.#reviews.first) {
      if (group instanceof ServiceState) this.#reviewService(now);
      else this.#reviewAppliance(group, now);
      yield;
    }
    this.monitor.update();
  }

  #expire(polled: PolledTask, now: number): void {
    const { facts, task } = polled;
    if (this.registry.expiresAt(polled) <= now) {
      const result = facts.isExposed ? 'stale' : 'forgotten';
      this.registry.observe(polled, { result }, now, this.#clock.now());
      this.#options.sink.withdraw(task.id, result === 'stale');
    }
    this.#setExpiry(polled);
  }

  #setExpiry(polled: PolledTask): void {
    const at = this.registry.expiresAt(polled);
    if (Number.isFinite(at)) this.#expiries.set(polled, at);
    else this.#expiries.delete(polled);
  }

  #reviewService(now: number): void {
    this.#service.review(now, this.#resumedAt);
    this.#setReview(this.#service, this.#service.deadline(now, this.#resumedAt));
  }

  #reviewAppliance(appliance: ApplianceTasks, now: number): void {
    const before = appliance.shown?.state;
    const { records, responses } = appliance;
    const intervalMs = appliance.intervalMs * this.registry.intervalFactor;
    const [resumedAt, isOver] = [this.#resumedAt, appliance.unpolled === 0];
    for (const [verdict, subject] of [
      [records, RECORDS],
      [responses, RESPONSES],
    ] as const) {
      // While the service is down, only probes are sent.
      const next = () => (this.#service.isUp === false ? undefined : appliance.lastWorking(subject));
      const probed = verdict.review(now, { intervalMs, resumedAt, isOver, next });
      if (probed !== undefined) this.#agenda.pollNow(probed);
    }
    const deadlines = [records, responses].map((verdict) => verdict.deadline(now, { intervalMs, resumedAt }));
    this.#setReview(appliance, Math.min(...deadlines));
    this.#publisher.update(appliance);
    if (appliance.state === before) return;
    this.monitor.applianceChanged(appliance);
    if (appliance.state === 'reporting') this.#earlierPolls.applianceReports(appliance, now);
  }

  #setReview(group: ApplianceTasks | ServiceState, at: number): void {
    if (Number.isFinite(at)) this.#reviews.set(group, at);
    else this.#reviews.delete(group);
  }

  /** Follows the inventory in slices, one change after the other. */
  #reconcile(): Promise<void> {
    this.#reconciled = this.#reconciled.then(() => runInSlices(this.#changes(this.#clock.monotonic()), this.#clock));
    return this.#reconciled;
  }

  *#changes(now: number): Generator<void> {
    const { size } = this.registry.appliances;
    const affected = new Set<ApplianceTasks>();
    let removed = 0;
    for (const change of this.registry.reconcile(this.#options.collector.tasks(), now)) {
      if (change === undefined) yield;
      else if (change.change === 'appliance removed') {
        removed += 1;
        affected.delete(change.appliance);
        this.#removeAppliance(change.appliance);
      } else {
        if (change.polled.appliance !== undefined) affected.add(change.polled.appliance);
        this.#changeTask(change.change, change.polled, now);
      }
    }
    for (const appliance of affected) {
      this.#reviewAppliance(appliance, now);
      yield;
    }
    if (size === 0 && this.registry.appliances.size > 0) this.#service.restart(now);
    this.#setReview(this.#service, this.#service.deadline(now, this.#resumedAt));
    if (removed > 0 || this.registry.appliances.size > size) this.monitor.fleetChanged();
  }

  #changeTask(change: 'added' | 'removed' | 'shortened' | 'renamed', polled: PolledTask, now: number): void {
    const { task, phase } = polled;
    // Spread over one millisecond by the phases, so that no appliance is polled completely before the next one.
    if (change === 'added' && !this.#agenda.isInFlight(polled)) this.#agenda.place(polled, now + phase);
    if (change === 'shortened') this.#agenda.placeEarlier(polled, now + phase * task.intervalMs);
    if (change !== 'removed') return;
    this.#options.sink.withdraw(task.id);
    this.#expiries.delete(polled);
    this.#agenda.remove(polled);
    this.monitor.taskRemoved(polled);
    if (!this.#agenda.isInFlight(polled)) this.registry.forget(polled);
  }

  #removeAppliance(appliance: ApplianceTasks): void {
    this.#reviews.delete(appliance);
    this.#publisher.withdraw(appliance);
    this.monitor.applianceRemoved(appliance);
  }
}
