import type { PollSink } from '../metrics/sink.ts';
import type { Reading } from '../metrics/snapshot.ts';
import type { Collector, Task } from '../metrics/task.ts';
import type { Clock } from '../runtime/clock.ts';
import { asError } from '../runtime/errors.ts';
import type { Random } from '../runtime/random.ts';
import type { Agenda } from './agenda.ts';
import type { Appliances } from './appliances.ts';
import type { SeriesHealth } from './health.ts';
import type { Observer } from './observer.ts';
import { type Outcome, poll } from './poll.ts';
import { note, restOrWake, type TaskState } from './task-state.ts';
import type { Tasks } from './tasks.ts';

export interface RunnerSettings {
  readonly collector: Collector;
  readonly tasks: Tasks;
  readonly agenda: Agenda;
  readonly appliances: Appliances;
  readonly health: SeriesHealth;
  readonly observer: Observer;
  readonly sink: PollSink;
  readonly clock: Clock;
  readonly random: Random;
  readonly workers: number;
  /** Called with the tasks whenever they change. */
  readonly onTasks?: (tasks: readonly Task[]) => void;
}

/**
 * Tasks with long intervals are repeated soon after a failure, in milliseconds, doubling up to their interval or the
 * longest; the inventory, as long as nothing else is polled without it, at least once a minute.
 */
const RETRY = { firstMs: 15_000, longestMs: 900_000, decidingMs: 60_000 } as const;

/** A series that failed more than once is polled every second interval, so that it recovers soon. */
const FAILING_INTERVALS = 2;

/** How soon a doubtful answer is confirmed, in milliseconds. */
const CONFIRM_MS = 60_000;

/** The shortest time between two polls for the explanation of a rejection, in milliseconds. */
const EXPLAINED_EVERY_MS = 60_000;

/** The longest sleep, in milliseconds: timers stop while the machine is suspended. */
const LONGEST_SLEEP_MS = 60_000;

/** Polls one API until it is stopped: takes the task that is due, polls it, stores the result and puts it back. */
export class Runner {
  readonly #settings: RunnerSettings;
  /** When rejected tasks were last made due because another one succeeded. */
  #wokenAt = Number.NEGATIVE_INFINITY;
  #wake = new AbortController();

  constructor(settings: RunnerSettings) {
    this.#settings = settings;
  }

  /** Polls until `signal` aborts; resolves when the last poll in flight has ended. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#runUntil(signal, () => false);
  }

  /**
   * Polls everything once, including tasks that appear meanwhile; resolves when all have been polled, or when the API
   * turns out to be down.
   */
  async runOnce(signal: AbortSignal): Promise<void> {
    const { tasks, health } = this.#settings;
    await this.#runUntil(
      signal,
      () => health.isDown || [...tasks.all()].every(({ standing }) => standing !== undefined),
    );
  }

  /** Shows the reading of a previous process, as if polled `at`, in monotonic milliseconds. */
  async restore(task: Task, reading: Reading, at: number): Promise<void> {
    const { tasks, sink, clock } = this.#settings;
    this.#reconcile();
    const state = tasks.get(task.id);
    if (state === undefined) return;
    await sink.accept(task, reading);
    state.confirmedAt = at;
    state.isShown = true;
    this.expire(clock.monotonic());
  }

  /** Removes stale values. */
  expire(now: number): void {
    const { tasks, sink, observer } = this.#settings;
    for (const state of tasks.expire(now)) {
      sink.withdraw(state.task.id, state.confirmedAt !== undefined);
      observer.expired(state);
    }
  }

  /** Polls until `signal` aborts or `isOver` is true after a poll; resolves when the last poll in flight has ended. */
  async #runUntil(signal: AbortSignal, isOver: () => boolean): Promise<void> {
    const over = new AbortController();
    const stop = () => {
      over.abort();
      this.#rouse();
    };
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    this.#reconcile();
    const work = async () => {
      for (let state = await this.#next(over.signal); state !== undefined; state = await this.#next(over.signal)) {
        await this.#poll(state, signal);
        if (isOver()) stop();
      }
    };
    await Promise.all(Array.from({ length: this.#settings.workers }, work));
    signal.removeEventListener('abort', stop);
  }

  /** The next task, once there is one; undefined when stopped. */
  async #next(signal: AbortSignal): Promise<TaskState | undefined> {
    const { agenda, health, tasks, clock } = this.#settings;
    while (!signal.aborted) {
      const now = clock.monotonic();
      const { isDown } = health;
      const waitMs = isDown ? health.waitMs(now) : Number.POSITIVE_INFINITY;
      // A probe leaves even if nothing is due: an outage may outlast every slot.
      const probe = waitMs === 0 ? agenda.takeProbe(tasks.deciding) : undefined;
      if (probe !== undefined) health.starting(probe);
      const state = probe ?? agenda.take(now, isDown);
      if (state !== undefined) return state;
      const dueMs = (agenda.nextDue(isDown) ?? Number.POSITIVE_INFINITY) - now;
      // If a probe is due but none could be taken, a poll in flight has to end first, and wakes this.
      const untilMs = Math.min(dueMs, waitMs || Number.POSITIVE_INFINITY, LONGEST_SLEEP_MS);
      // One signal for all, without AbortSignal.any: a signal that lives as long as the program keeps every such
      // combination.
      await clock.sleep(untilMs, this.#wake.signal);
    }
    return undefined;
  }

  /** Wakes all sleeping workers. */
  #rouse(): void {
    this.#wake.abort();
    this.#wake = new AbortController();
  }

  async #poll(state: TaskState, signal: AbortSignal): Promise<void> {
    const { agenda, tasks, sink, observer, clock } = this.#settings;
    const { task } = state;
    const outcome = await poll(task, signal, clock, sink);
    const now = clock.monotonic();
    if (state.isGone) sink.withdraw(task.id);
    else this.#guarded(state, () => this.#take(state, outcome, now));
    agenda.settle(state, now, state.isGone ? undefined : this.#afterMs(state, outcome));
    tasks.forget(state);
    // Also after a failure: tasks that waited for the first answer need not wait for a success.
    if (task.changesTasks && outcome.state !== 'aborted') this.#guarded(state, () => this.#reconcile());
    tasks.polled(state, now);
    observer.settled();
    this.#rouse();
  }

  /** Processes the outcome of a poll. */
  #take(state: TaskState, outcome: Outcome, now: number): void {
    const { tasks, appliances, health, observer, sink, clock } = this.#settings;
    if (outcome.state === 'aborted') return;
    const { standing: was, failures: failed } = state;
    const serial = state.task.appliance?.serial;
    note(state, outcome, now, clock.now(), tasks.stretched(now));
    restOrWake(state, serial !== undefined && appliances.isReporting(serial));
    if (outcome.state === 'denied') sink.withdraw(state.task.id, true);
    const wasDown = health.isDown;
    health.observe(state, outcome, tasks.deciding, now);
    if (wasDown && !health.isDown) this.#wakeFailed(now);
    if (failed > 0 && state.failures === 0 && serial !== undefined) this.#revive(serial, now);
    if (was === 'denied' && state.standing === 'records') this.#wakeThoseDenied(state, now);
    if ((was === 'denied') !== (state.standing === 'denied') && outcome.state !== 'failed') this.#explain(state, now);
    observer.ended(state, outcome);
  }

  /** The API is up again: failed tasks are polled within one interval, at no more requests than normal. */
  #wakeFailed(now: number): void {
    const { tasks, agenda } = this.#settings;
    for (const other of tasks.all()) {
      if (other.failures > 0) agenda.wake(other, now, Math.min(other.task.intervalMs, RETRY.longestMs));
    }
  }

  /** An appliance that did not answer at all answers again: its other series are polled as if they had failed once. */
  #revive(serial: string, now: number): void {
    const series = [...this.#settings.appliances.tasksOf(serial)].filter(({ resting }) => resting === undefined);
    const failing = series.filter(({ failures }) => failures > 0);
    if (failing.length !== series.length - 1) return;
    for (const state of failing) {
      state.failures = 1;
      this.#settings.agenda.wake(state, now, state.task.intervalMs / 2);
    }
  }

  /**
   * A rejected task that succeeds suggests that others with the same reason may succeed too: a gateway has recovered,
   * or a licence was bought. Once in each back-off, so that no task is polled more than twice as often.
   */
  #wakeThoseDenied({ task }: TaskState, now: number): void {
    const { tasks, agenda } = this.#settings;
    if (now - this.#wokenAt < (task.restMs ?? 0)) return;
    this.#wokenAt = now;
    for (const other of tasks.all()) {
      if (other.resting === undefined || other.resting === 'empty') continue;
      agenda.wake(other, now, other.task.intervalMs / 10);
    }
  }

  /** Polls the task that may explain a rejection, or its end. */
  #explain({ task }: TaskState, now: number): void {
    const { tasks, agenda } = this.#settings;
    const reason = task.explainedBy === undefined ? undefined : tasks.get(task.explainedBy);
    if (reason === undefined || now - (reason.confirmedAt ?? Number.NEGATIVE_INFINITY) < EXPLAINED_EVERY_MS) return;
    agenda.wake(reason, now, 0);
  }

  /** A bug in storing results must not end polling. */
  #guarded(state: TaskState, act: () => void): void {
    try {
      act();
    } catch (thrown) {
      this.#settings.observer.defect(state, asError(thrown));
    }
  }

  #reconcile(): void {
    const { agenda, collector, tasks, appliances, observer, sink, clock, onTasks } = this.#settings;
    const now = clock.monotonic();
    const all = collector.tasks();
    const { come, gone, hastened } = tasks.reconcile(all, now);
    for (const state of gone) {
      sink.withdraw(state.task.id);
      agenda.remove(state);
    }
    for (const state of come) agenda.add(state, now);
    for (const state of hastened) agenda.hasten(state, now);
    const left = appliances.reconcile(come, gone, all);
    for (const serial of left.gone) agenda.forget(serial);
    observer.changed(gone, left.hasNew || left.gone.length > 0);
    onTasks?.(all);
  }

  /** When to poll the task again, if not in its next slot. */
  #afterMs(state: TaskState, outcome: Outcome): number | undefined {
    const { task, failures, resting } = state;
    const jitter = 0.9 + this.#settings.random() / 10;
    if (resting !== undefined && outcome.state !== 'failed') return (task.restMs ?? task.intervalMs) * jitter;
    if (outcome.state === 'succeeded' && outcome.reading.isDoubtful) return Math.min(task.intervalMs, CONFIRM_MS);
    if (outcome.state !== 'failed') return undefined;
    if (!task.retriesSoon)
      return failures > 1 && task.appliance ? FAILING_INTERVALS * task.intervalMs * jitter : undefined;
    const isAlone = task.changesTasks && this.#settings.tasks.deciding.includes(state);
    const longestMs = isAlone ? RETRY.decidingMs : RETRY.longestMs;
    return Math.min(task.intervalMs, longestMs, RETRY.firstMs * 2 ** (failures - 1)) * jitter;
  }
}
