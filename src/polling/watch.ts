import type { DropReason } from '../metrics/samples.ts';
import type { Api, Snapshot, Write } from '../metrics/snapshot.ts';
import type { Task } from '../metrics/task.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { type AgeSummary, DataAges } from './ages.ts';
import { Failures } from './failures.ts';
import type { Outcome } from './poll.ts';
import { operationOf, Refusals } from './refusals.ts';
import type { RunnerEvents } from './runner.ts';
import { dataTasks, Sweep, worstAgeMs } from './sweep.ts';

/** Takes what polls bring. */
export interface SnapshotSink {
  /** Makes lines of samples, for a later `publish`; without it that makes them. */
  readonly write?: Write;
  publish(task: Task, snapshot: Snapshot): void;
  withdraw(id: string): void;
  dropped(api: Api, drops: ReadonlyMap<DropReason, number>): void;
}

/** One appliance as its polls show it, for people. */
export interface ApplianceStatus {
  readonly serial: string;
  readonly name: string;
  readonly up: boolean | undefined;
  /** Epoch milliseconds; undefined before the first. */
  readonly lastPollAt: number | undefined;
  readonly lastSuccessAt: number | undefined;
  /** How many of its tasks failed when they were last polled. */
  readonly failing: number;
  /** The latest failure, until the task that failed succeeds again. */
  readonly lastError: TaskFailure | undefined;
}

/** How a poll failed. */
export interface TaskFailure {
  readonly task: Task;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly message: string;
}

interface ApplianceRecord {
  name: string;
  /** The latest outcome of each of its tasks that has been polled. */
  readonly outcomes: Map<string, Outcome['state']>;
  published: boolean | undefined;
  /** What the log was told last; not that an outage of the API took it down. */
  told: boolean | undefined;
  lastPollAt: number | undefined;
  lastSuccessAt: number | undefined;
  lastError: TaskFailure | undefined;
}

/** What a watch needs. */
export interface WatchSettings {
  readonly api: Api;
  readonly sink: SnapshotSink;
  readonly log: Log;
  readonly clock: Clock;
  /** The name of the gauge that says whether an appliance answers. */
  readonly upName: string;
  /** No appliance is asked for anything: the API is up when any task of it succeeds. */
  readonly withoutAppliances?: boolean;
}

/**
 * What the outcomes of one API's polls say: publishes and withdraws snapshots, knows which appliances answer, and logs
 * each change of state once. While the API as a whole is down, its appliances and series change nothing in the log.
 */
export class Watch implements RunnerEvents {
  readonly #settings: WatchSettings;
  readonly #appliances = new Map<string, ApplianceRecord>();
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
  }

  /** The tasks as of the latest change. */
  get tasks(): readonly Task[] {
    return this.#tasks;
  }

  /** Whether the API answers: its latest poll succeeded, or where there are appliances one series of one of them did. */
  get up(): boolean {
    if (this.#down !== undefined || this.#ended === 0) return false;
    const perAppliance = this.#tasks.some((task) => task.appliance !== undefined || task.changesTasks);
    return perAppliance && !this.#settings.withoutAppliances
      ? [...this.#appliances.values()].some(isUp)
      : this.#succeeded > 0;
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
    return [...this.#appliances]
      .map(([serial, { name, outcomes, published, lastPollAt, lastSuccessAt, lastError }]) => {
        const failing = countOf(outcomes.values(), 'failed');
        return { serial, name, up: published, lastPollAt, lastSuccessAt, failing, lastError };
      })
      .sort((a, b) => byName.compare(a.name, b.name) || byName.compare(a.serial, b.serial));
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
      this.#ages.confirm(task.id, clock.monotonic());
      sink.publish(task, { task: task.id, samples: outcome.reading.samples, written: outcome.written });
      sink.dropped(api, outcome.reading.drops);
      log.debug({ task: task.id, seconds, drops: Object.fromEntries(outcome.reading.drops) }, 'polled');
    } else {
      this.#lastError = outcome.error.message;
      if (state === 'absent') sink.withdraw(task.id);
      log.debug({ task: task.id, seconds, reason: outcome.error.message }, 'poll failed');
    }
    if (turn.wentUp) this.#cameBack();
    if (turn.wentDown && state === 'failed') this.#wentDown(outcome.error);
    this.#noteTask(outcome);
    this.#noteRefusal(outcome);
    this.#noteAppliance(outcome);
    // An inventory that was read is followed by the tasks that it brought: whether one of them must be awaited is said there.
    if (!(task.changesTasks && state === 'succeeded')) this.#notePolledOnce();
  }

  changed(tasks: readonly Task[], gone: readonly Task[]): void {
    const { sink, clock, log, api } = this.#settings;
    const before = new Set(this.#appliances.keys());
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
    const named = new Map(tasks.flatMap(({ appliance }) => (appliance ? [[appliance.serial, appliance.name]] : [])));
    for (const [serial, record] of this.#appliances) {
      if (named.has(serial)) {
        for (const { id } of gone) {
          record.outcomes.delete(id);
          if (record.lastError?.task.id === id) record.lastError = undefined;
        }
        continue;
      }
      this.#appliances.delete(serial);
      sink.withdraw(upTask(serial));
    }
    for (const [serial = '', name = ''] of named) {
      const record = this.#appliances.get(serial);
      if (record === undefined) this.#appliances.set(serial, { ...newRecord(), name });
      else if (record.name !== name) {
        record.name = name;
        record.published = undefined;
        this.#publishUp(serial, record);
      }
    }
    this.#notePolledOnce();
    if (before.size !== this.#appliances.size || [...before].some((serial) => !this.#appliances.has(serial))) {
      log.info({ api, appliances: this.#appliances.size, tasks: tasks.length }, 'the inventory has changed');
    }
  }

  #notePolledOnce(): void {
    if (this.#polledOnce) return;
    const toAsk = this.#tasks.some((task) => task.appliance !== undefined);
    const asked = [...this.#appliances.values()].some(({ outcomes }) => outcomes.size > 0);
    const isSettled = this.#tasks.every((task) => !task.changesTasks || this.#settled.has(task.id));
    this.#polledOnce = toAsk ? asked : isSettled && this.#ended > 0;
  }

  #cameBack(): void {
    const { log, api } = this.#settings;
    const was = this.#down;
    this.#down = undefined;
    log.info({ api }, was === undefined ? 'the API answers' : 'the API answers again');
    for (const [serial, record] of this.#appliances) this.#publishUp(serial, record);
  }

  #wentDown(err: Error): void {
    this.#down = err.message;
    this.#settings.log.warn({ api: this.#settings.api, err }, 'the API cannot be polled');
    for (const [serial, record] of this.#appliances) if (record.outcomes.size > 0) this.#publishUp(serial, record);
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

  #noteAppliance(outcome: Outcome): void {
    const { clock, log } = this.#settings;
    const { task, state } = outcome;
    const serial = task.appliance?.serial;
    if (serial === undefined) {
      if (state === 'failed') this.#errors.set(task.id, outcome.error.message);
      else this.#errors.delete(task.id);
    }
    const record = serial === undefined ? undefined : this.#appliances.get(serial);
    if (serial === undefined || record === undefined) return;
    record.outcomes.set(task.id, state);
    record.lastPollAt = clock.now();
    if (state === 'succeeded') {
      record.lastSuccessAt = clock.now();
    }
    if (state === 'failed') record.lastError = { task, at: clock.now(), message: outcome.error.message };
    else if (record.lastError?.task.id === task.id) record.lastError = undefined;
    this.#publishUp(serial, record);
    if (this.#down !== undefined) return;
    const was = record.told;
    record.told = record.published;
    if (was === undefined || was === record.told) return;
    if (record.told) log.info({ serial, filer: record.name }, 'the appliance answers');
    else log.warn({ serial, filer: record.name }, 'the appliance does not answer');
  }

  #publishUp(serial: string, record: ApplianceRecord): void {
    const { sink, upName } = this.#settings;
    const up = isUp(record) && this.#down === undefined;
    if (record.published === up || record.outcomes.size === 0) return;
    record.published = up;
    const id = upTask(serial);
    const labels = { serial, filer: record.name };
    const task: Task = { ...NEVER_STALE, id, api: this.#settings.api };
    sink.publish(task, { task: id, samples: [{ name: upName, labels, value: up ? 1 : 0 }] });
  }
}

/** What is derived from polls is right until a poll says otherwise: it has no age of its own. */
const NEVER_STALE = {
  operation: 'up',
  intervalMs: Number.POSITIVE_INFINITY,
  poll: () => Promise.reject(new Error('a derived task is never polled')),
} as const;

function upTask(serial: string): string {
  return `portal/${serial}/up`;
}

function newRecord(): ApplianceRecord {
  return {
    name: '',
    outcomes: new Map(),
    published: undefined,
    told: undefined,
    lastPollAt: undefined,
    lastSuccessAt: undefined,
    lastError: undefined,
  };
}

/** As people order names: `edge-2` before `edge-10`. */
const byName = new Intl.Collator('en', { numeric: true });

function countOf<T>(values: Iterable<T>, wanted: T): number {
  let count = 0;
  for (const value of values) if (value === wanted) count += 1;
  return count;
}

function isUp({ outcomes }: ApplianceRecord): boolean {
  for (const state of outcomes.values()) if (state === 'succeeded') return true;
  return false;
}
