import type { PollResult } from '../contract/poll-result.ts';
import type { ServiceWarning } from '../contract/service-warning.ts';
import type { PollSink } from '../contract/sink.ts';
import type { ApplianceFamilies, Collector, Task } from '../contract/task.ts';
import type { Clock } from '../runtime/clock.ts';
import { asError } from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import { runInSlices } from '../runtime/slices.ts';
import { Agenda } from './agenda.ts';
import { Appliances } from './appliances.ts';
import { SeriesHealth } from './health.ts';
import { Observer } from './observer.ts';
import { type Outcome, poll } from './poll.ts';
import { recordOutcome, type TaskState } from './task-state.ts';
import { Tasks, type TasksOptions } from './tasks.ts';

export interface PollerOptions extends Omit<TasksOptions, 'hasSeries'> {
  readonly collector: Collector;
  readonly workers: number;
  readonly sink: PollSink;
  readonly isHeld: () => boolean;
  readonly notes: () => readonly ServiceWarning[];
  readonly appliances: ApplianceFamilies | undefined;
  readonly onTasks?: (tasks: readonly Task[]) => void;
}

export interface PollerTools {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

const PER_APPLIANCE = 2;

const FAILING_SHARE = 1 / 4;

/**
 * Tasks with long intervals are repeated soon after a failure, in milliseconds, doubling up to their interval or the
 * longest; the inventory, as long as nothing else is polled without it, at least once a minute.
 */
const RETRY = { firstMs: 15_000, longestMs: 900_000, decidingMs: 60_000 } as const;

/** A series that failed more than once is polled every second interval, so that it recovers soon. */
const FAILING_INTERVALS = 2;

const CONFIRM_MS = 60_000;

/** The shortest time between two polls for the explanation of a rejection, in milliseconds. */
const EXPLAINED_EVERY_MS = 60_000;

/** The longest sleep, in milliseconds: timers stop while the machine is suspended. Also how often values are expired. */
const MAX_SLEEP_MS = 10_000;

/** Where the poller does not run for so long, in milliseconds, the process or the machine was paused. */
const PAUSE_MS = 2 * MAX_SLEEP_MS;

export class Poller {
  readonly tasks: Tasks;
  readonly observer: Observer;
  readonly #settings: PollerOptions;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #health: SeriesHealth;
  readonly #agenda: Agenda;
  #wokenAt = Number.NEGATIVE_INFINITY;
  #explainedAt = Number.NEGATIVE_INFINITY;
  #expiredAt: number;
  #wake = new AbortController();

  constructor(settings: PollerOptions, { clock, random, log }: PollerTools) {
    const { workers, sink, isHeld, notes, appliances: families } = settings;
    const { api } = settings.collector;
    this.#settings = settings;
    this.#clock = clock;
    this.#random = random;
    this.tasks = new Tasks({ ...settings, hasSeries: families !== undefined });
    // More failures in a row than workers: that many polls can hang at once while all others succeed.
    this.#health = new SeriesHealth(2 * workers, random);
    this.#agenda = new Agenda({
      perAppliance: PER_APPLIANCE,
      failing: Math.max(1, Math.floor(workers * FAILING_SHARE)),
    });
    this.#expiredAt = clock.monotonic();
    const ask = (state: TaskState) => this.#agenda.wake(state, clock.monotonic(), 0);
    const appliances = new Appliances({ api, sink, log, families, ask });
    const parts = { tasks: this.tasks, health: this.#health };
    this.observer = new Observer({ api, appliances, ...parts, isHeld, notes, clock, log });
  }

  /** Resolves when the last poll in flight has ended. Never rejects. */
  run(signal: AbortSignal): Promise<void> {
    return this.#runUntil(signal, () => false);
  }

  /** Polls everything once, also tasks that appear meanwhile; resolves when all are polled or the API is down. */
  runOnce(signal: AbortSignal): Promise<void> {
    const isPolled = ({ standing }: TaskState) => standing !== undefined;
    return this.#runUntil(signal, () => this.#health.isDown || [...this.tasks.all()].every(isPolled));
  }

  /** Shows the reading of a previous process, as if polled `at`, in monotonic milliseconds. */
  async restore(task: Task, reading: PollResult, at: number): Promise<void> {
    this.#reconcile();
    const state = this.tasks.get(task.id);
    if (state === undefined) return;
    await this.#settings.sink.accept(task, reading);
    state.confirmedAt = at;
    state.isShown = true;
    await this.expire();
  }

  /** Withdraws what is stale, and judges the appliances by the time that has passed; in slices. */
  expire(): Promise<void> {
    return runInSlices(this.#expired(this.#clock.monotonic()), this.#clock);
  }

  *#expired(now: number): Generator<void> {
    const pausedMs = now - this.#expiredAt;
    this.#expiredAt = now;
    if (pausedMs > PAUSE_MS) this.observer.resumed(pausedMs);
    for (const { task, confirmedAt } of this.tasks.expire(now)) {
      this.#settings.sink.withdraw(task.id, confirmedAt !== undefined);
      yield;
    }
    yield* this.observer.timePassed();
  }

  async #runUntil(signal: AbortSignal, isOver: () => boolean): Promise<void> {
    const inFlight = new Set<Promise<void>>();
    let isStopped = false;
    const stop = () => {
      isStopped = true;
      this.#wake.abort('stopped');
    };
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    this.#reconcile();
    while (!isStopped) {
      const now = this.#clock.monotonic();
      if (now - this.#expiredAt >= MAX_SLEEP_MS) {
        await this.expire();
        continue;
      }
      const isFree = inFlight.size < this.#settings.workers;
      const state = isFree ? this.#takeDue(now) : undefined;
      if (state === undefined) {
        this.#wake = new AbortController();
        await this.#clock.sleep(isFree ? this.#idleMs(now) : MAX_SLEEP_MS, this.#wake.signal);
        continue;
      }
      const polled = this.#poll(state, signal).finally(() => {
        inFlight.delete(polled);
        if (isOver()) stop();
        this.#wake.abort('polled');
      });
      inFlight.add(polled);
    }
    await Promise.all(inFlight);
    signal.removeEventListener('abort', stop);
  }

  #takeDue(now: number): TaskState | undefined {
    const { isDown } = this.#health;
    // A probe leaves even if nothing is due: an outage may outlast every slot.
    const isProbing = isDown && this.#health.waitMs(now) === 0;
    const probe = isProbing ? this.#agenda.takeProbe(this.tasks.deciding) : undefined;
    if (probe !== undefined) this.#health.starting(probe);
    return probe ?? this.#agenda.take(now, isDown);
  }

  /** How long nothing is due, where nothing was at the same `now`: what came due since is no longer to come. */
  #idleMs(now: number): number {
    const { isDown } = this.#health;
    const dueMs = this.#agenda.nextDue(now, isDown) - now;
    // If a probe is due but none could be taken, a poll in flight has to end first, and wakes this.
    const probeMs = (isDown && this.#health.waitMs(now)) || Number.POSITIVE_INFINITY;
    return Math.min(dueMs, probeMs, MAX_SLEEP_MS);
  }

  async #poll(state: TaskState, signal: AbortSignal): Promise<void> {
    const { sink } = this.#settings;
    const { task } = state;
    const outcome = await poll(task, signal, this.#clock, sink);
    const now = this.#clock.monotonic();
    if (state.isGone) sink.withdraw(task.id);
    else this.#guarded(state, () => this.#take(state, outcome, now));
    this.#agenda.putBack(state, now, state.isGone ? undefined : this.#afterMs(state, outcome));
    this.tasks.forget(state);
    // Also after a failure: tasks that waited for the first answer need not wait for a success.
    if (task.discoversTasks && outcome.state !== 'aborted') this.#guarded(state, () => this.#reconcile());
    this.tasks.polled(state, now);
  }

  #take(state: TaskState, outcome: Outcome, now: number): void {
    if (outcome.state === 'aborted') return;
    const { standing: was, failures: failed } = state;
    recordOutcome(state, outcome, now, this.#clock.now(), this.tasks.stretched(now));
    if (outcome.state === 'denied') this.#settings.sink.withdraw(state.task.id, true);
    const { isDown: wasDown, answeredAt } = this.#health;
    this.#health.observe(state, outcome, this.tasks.deciding, now);
    if (wasDown && !this.#health.isDown) this.#wakeFailed(now, answeredAt);
    if (failed > 0 && state.failures === 0) this.#revive(state, now);
    if (was === 'denied' && state.standing === 'records') this.#wakeThoseDenied(state, now);
    if ((was === 'denied') !== (state.standing === 'denied') && outcome.state !== 'failed') this.#explain(state, now);
    this.observer.ended(state, outcome);
  }

  /** Failed tasks are polled within one interval; those that were well before the outage not after tasks that hang. */
  #wakeFailed(now: number, answeredAt: number): void {
    for (const other of this.tasks.all()) {
      if (other.failures === 0) continue;
      const wasWell = answeredAt - (other.confirmedAt ?? Number.NEGATIVE_INFINITY) < 2 * other.promisedMs;
      if (wasWell) other.failures = 1;
      this.#agenda.wake(other, now, Math.min(other.task.intervalMs, RETRY.longestMs));
    }
  }

  /** An appliance that did not answer at all answers again: its other series are polled as if they had failed once. */
  #revive({ appliance }: TaskState, now: number): void {
    const series = [...(appliance?.tasks ?? [])].filter(({ backedOff }) => backedOff === undefined);
    const failing = series.filter(({ failures }) => failures > 0);
    if (failing.length !== series.length - 1) return;
    for (const state of failing) {
      state.failures = 1;
      this.#agenda.wake(state, now, state.task.intervalMs / 2);
    }
  }

  /** A gateway has recovered, or a licence was bought. Once in each back-off: no task is polled far more often. */
  #wakeThoseDenied({ task }: TaskState, now: number): void {
    if (now - this.#wokenAt < (task.suspendedIntervalMs ?? 0)) return;
    this.#wokenAt = now;
    for (const other of this.tasks.all()) {
      if (other.backedOff === undefined || other.backedOff === 'empty') continue;
      this.#agenda.wake(other, now, other.task.intervalMs / 10);
    }
  }

  #explain({ task }: TaskState, now: number): void {
    const reason = task.pollAlso === undefined ? undefined : this.tasks.get(task.pollAlso);
    if (reason === undefined || now - this.#explainedAt < EXPLAINED_EVERY_MS) return;
    this.#explainedAt = now;
    this.#agenda.wake(reason, now, 0);
  }

  /** A bug in storing results must not end polling. */
  #guarded(state: TaskState, act: () => void): void {
    try {
      act();
    } catch (thrown) {
      this.observer.defect(state, asError(thrown));
    }
  }

  #reconcile(): void {
    const { collector, sink, onTasks } = this.#settings;
    const now = this.#clock.monotonic();
    const all = collector.tasks();
    const change = this.tasks.reconcile(all, now);
    for (const { task } of change.gone) sink.withdraw(task.id);
    for (const state of change.come) this.#agenda.add(state, now);
    for (const state of change.hastened) this.#agenda.wake(state, now, state.task.intervalMs);
    this.observer.changed(change);
    onTasks?.(all);
  }

  #afterMs(state: TaskState, outcome: Outcome): number | undefined {
    const { task, failures, backedOff } = state;
    const jitter = 0.9 + this.#random() / 10;
    if (backedOff !== undefined && outcome.state !== 'failed')
      return (task.suspendedIntervalMs ?? task.intervalMs) * jitter;
    if (outcome.state === 'succeeded' && outcome.reading.needsConfirmation)
      return Math.min(task.intervalMs, CONFIRM_MS);
    if (outcome.state !== 'failed') return undefined;
    if (!task.retriesBeforeSlot)
      return failures > 1 && state.appliance ? FAILING_INTERVALS * task.intervalMs * jitter : undefined;
    const isAlone = task.discoversTasks && this.tasks.deciding.includes(state);
    const longestMs = isAlone ? RETRY.decidingMs : RETRY.longestMs;
    return Math.min(task.intervalMs, longestMs, RETRY.firstMs * 2 ** (failures - 1)) * jitter;
  }
}
