import type { Api } from '../metrics/snapshot.ts';
import type { Task } from '../metrics/task.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { type AgeSummary, DataAges } from './ages.ts';
import { type ApplianceStatus, Appliances } from './appliances.ts';
import { operationOf, Refusals } from './denied-operations.ts';
import { Failures } from './failures.ts';
import type { Outcome } from './poll.ts';
import type { RunnerEvents } from './runner.ts';
import type { SnapshotSink } from './sink.ts';
import { dataTasks, Sweep, worstAgeMs } from './sweep.ts';

/** What a watch needs. */
export interface WatchSettings {
  readonly api: Api;
  readonly sink: SnapshotSink;
  readonly log: Log;
  readonly clock: Clock;
  /** The name of the gauge that says whether an appliance answers; undefined where no appliance is asked for anything: then the API is up when any task of it succeeds. */
  readonly upName: string | undefined;
}

/**
 * What the outcomes of one API's polls say: publishes and withdraws snapshots, knows which appliances answer, and logs
 * each change of state once. While the API as a whole is down, its appliances and series change nothing in the log.
 */
export class Watch implements RunnerEvents {
  readonly #settings: WatchSettings;
  readonly #appliances: Appliances;
  readonly #failures = new Failures();
  /** Why tasks that are about no appliance failed last: the inventory, the account. */
  readonly #errors = new Map<string, string>();
  readonly #sweep = new Sweep();
  readonly #ages = new DataAges();
  /** The tasks whose outcome decides which others there are, and that have ended once. */
  readonly #settled = new Set<string>();
  readonly #refusals = new Refusals();
  #down: string | undefined;
  #polledOnce = false;
  #ended = 0;
  #succeeded = 0;
  #lastSuccessAt: number | undefined;
  #lastError: string | undefined;
  #tasks: readonly Task[] = [];

  constructor(settings: WatchSettings) {
    this.#settings = settings;
    this.#appliances = new Appliances(settings);
  }

  /** The tasks as of the latest change. */
  get tasks(): readonly Task[] {
    return this.#tasks;
  }

  /** Whether the API answers: its latest poll succeeded, or where there are appliances one series of one of them did. */
  get up(): boolean {
    if (this.#down !== undefined || this.#ended === 0) return false;
    const perAppliance = this.#tasks.some((task) => task.appliance !== undefined || task.changesTasks);
    return perAppliance && this.#settings.upName !== undefined ? this.#appliances.someSucceeded : this.#succeeded > 0;
  }

  /**
   * Whether the first polls have ended, whatever came of them: of one series at least, where the inventory that was read
   * first has any. Once true it stays so.
   */
  get polledOnce(): boolean {
    return this.#polledOnce;
  }

  /** How many polls have succeeded. */
  get succeeded(): number {
    return this.#succeeded;
  }

  /** Epoch milliseconds of the last poll that succeeded. */
  get lastSuccessAt(): number | undefined {
    return this.#lastSuccessAt;
  }

  /** Why the latest failed poll failed, while the API is down. */
  get lastError(): string | undefined {
    return this.#down === undefined ? undefined : this.#lastError;
  }

  /** Seconds of the last whole round; undefined before it has ended. */
  get sweepSeconds(): number | undefined {
    return this.#sweep.lastSeconds;
  }

  /** The ages of what tasks last brought, of those that `counts` accepts; undefined while there is none. */
  ages(counts: (task: Task) => boolean): AgeSummary | undefined {
    const counted = dataTasks(this.#tasks)
      .filter(counts)
      .map(({ id }) => id);
    return this.#ages.summary(counted, this.#settings.clock.monotonic());
  }

  /** Seconds since the task last brought something; undefined before it did. */
  ageSeconds(id: string): number | undefined {
    const age = this.#ages.ageMs(id, this.#settings.clock.monotonic());
    return age === undefined ? undefined : age / 1000;
  }

  /** Why a task that is about no appliance failed when it was last polled; undefined when it did not. */
  errorOf(id: string): string | undefined {
    return this.#errors.get(id);
  }

  /**
   * How many of the tasks that `counts` accepts have missed more than one poll: no success for two of their intervals as
   * the limits stretch them, and the half that a slot may be late.
   */
  overdue(counts: (task: Task) => boolean, stretched: number): number {
    const counted = this.#tasks.filter(counts);
    const awaited = counted.map(({ id, intervalMs }) => ({ id, mayMs: worstAgeMs(intervalMs, 2 * stretched) }));
    return this.#ages.overdue(awaited, this.#settings.clock.monotonic());
  }

  /** Every appliance, by name. */
  appliances(): readonly ApplianceStatus[] {
    return this.#appliances.statuses();
  }

  ended(outcome: Outcome, turn: { readonly wentDown: boolean; readonly wentUp: boolean }): void {
    const { sink, log, clock, api } = this.#settings;
    const { task, state, seconds } = outcome;
    if (state === 'aborted') return;
    this.#ended += 1;
    if (task.changesTasks) this.#settled.add(task.id);
    const hasData = state === 'succeeded' ? !outcome.reading.empty : state === 'failed';
    this.#sweep.polled(task.id, hasData, clock.monotonic());
    if (state === 'succeeded') {
      this.#succeeded += 1;
      this.#lastSuccessAt = clock.now();
      const { samples, drops, answeredAt } = outcome.reading;
      this.#ages.confirm(task.id, answeredAt ?? clock.monotonic());
      sink.publish(task, { task: task.id, samples, written: outcome.written, answeredAt });
      sink.dropped(api, drops);
      log.debug({ task: task.id, seconds, drops: Object.fromEntries(drops) }, 'polled');
    } else {
      this.#lastError = outcome.error.message;
      if (state === 'absent') sink.withdraw(task.id);
      log.debug({ task: task.id, seconds, reason: outcome.error.message }, 'poll failed');
    }
    if (turn.wentUp) this.#cameBack();
    if (turn.wentDown && state === 'failed') this.#wentDown(outcome.error);
    this.#noteError(outcome);
    this.#noteTask(outcome);
    this.#noteRefusal(outcome);
    this.#noteAppliance(outcome);
    // An inventory that was read is followed by the tasks that it brought: whether one of them must be awaited is said there.
    if (!(task.changesTasks && state === 'succeeded')) this.#notePolledOnce();
  }

  changed(tasks: readonly Task[], gone: readonly Task[]): void {
    const { sink, clock, log, api } = this.#settings;
    this.#tasks = tasks;
    this.#sweep.changed(tasks, clock.monotonic());
    for (const { id } of tasks) this.#ages.await(id, clock.monotonic());
    for (const { id } of gone) {
      sink.withdraw(id);
      this.#failures.forget(id);
      this.#errors.delete(id);
      this.#refusals.forget(id);
      this.#ages.forget(id);
    }
    const isChanged = this.#appliances.changed(tasks, gone);
    this.#notePolledOnce();
    if (isChanged) {
      log.info({ api, appliances: this.#appliances.size, tasks: tasks.length }, 'the inventory has changed');
    }
  }

  defect({ id }: Task, err: Error): void {
    this.#settings.log.error({ task: id, err }, 'a defect: what a poll brought could not be taken in; going on');
  }

  #notePolledOnce(): void {
    if (this.#polledOnce) return;
    const toAsk = this.#tasks.some((task) => task.appliance !== undefined);
    const isSettled = this.#tasks.every((task) => !task.changesTasks || this.#settled.has(task.id));
    this.#polledOnce = toAsk ? this.#appliances.somePolled : isSettled && this.#ended > 0;
  }

  #cameBack(): void {
    const { log, api } = this.#settings;
    const was = this.#down;
    this.#down = undefined;
    log.info({ api }, was === undefined ? 'the API answers' : 'the API answers again');
    this.#appliances.apiTurned(false);
  }

  #wentDown(err: Error): void {
    this.#down = err.message;
    this.#settings.log.warn({ api: this.#settings.api, err }, 'the API cannot be polled');
    this.#appliances.apiTurned(true);
  }

  /** Keeps why a task failed that is about no appliance; what is about one is kept with it. */
  #noteError(outcome: Outcome): void {
    const { task, state } = outcome;
    if (task.appliance !== undefined) return;
    if (state === 'failed') this.#errors.set(task.id, outcome.error.message);
    else this.#errors.delete(task.id);
  }

  /** One line when a task goes on failing while its API answers others, and one when it is back. */
  #noteTask(outcome: Outcome): void {
    const { log } = this.#settings;
    const { id } = outcome.task;
    const change = this.#failures.observe(outcome, this.#succeeded, this.#down !== undefined);
    if (change === 'can be polled again') log.info({ task: id }, 'the task can be polled again');
    if (change !== 'fails' || outcome.state !== 'failed') return;
    log.warn({ task: id, err: outcome.error }, 'the task cannot be polled');
  }

  /** One line when the API refuses an operation, and one when it gives it again to all whom it was refused. */
  #noteRefusal(outcome: Outcome): void {
    const { log, api } = this.#settings;
    const change = this.#refusals.observe(outcome);
    const operation = operationOf(outcome);
    if (change === 'given again') log.info({ api, operation }, 'the API gives this operation again');
    if (change !== 'refused' || outcome.state !== 'absent') return;
    const err = outcome.error;
    log.warn({ api, operation, err }, 'the API refuses this operation: doing without it, and asking slowly');
  }

  /** One line when an appliance does not answer any more, and one when it does again. */
  #noteAppliance(outcome: Outcome): void {
    const { log } = this.#settings;
    const change = this.#appliances.observe(outcome);
    if (change === undefined) return;
    const { serial, name: filer, answers } = change;
    if (answers) log.info({ serial, filer }, 'the appliance answers');
    else log.warn({ serial, filer }, 'the appliance does not answer');
  }
}
