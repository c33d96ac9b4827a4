import type { Api } from '../metrics/snapshot.ts';
import type { Task } from '../metrics/task.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Outcome } from './poll.ts';
import type { SnapshotSink } from './sink.ts';

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

/** An appliance that answers again, or no longer, while its API does. */
export interface ApplianceChange {
  readonly serial: string;
  readonly name: string;
  readonly answers: boolean;
}

interface ApplianceRecord {
  name: string;
  /** The latest outcome of each of its tasks that has been polled. */
  readonly outcomes: Map<string, Outcome['state']>;
  published: boolean | undefined;
  /** What was told last; not that an outage of the API took it down. */
  told: boolean | undefined;
  lastPollAt: number | undefined;
  lastSuccessAt: number | undefined;
  lastError: TaskFailure | undefined;
}

/** What the appliances of an API need. */
export interface AppliancesSettings {
  readonly api: Api;
  readonly sink: Pick<SnapshotSink, 'publish' | 'withdraw'>;
  readonly clock: Pick<Clock, 'now'>;
  /** The name of the gauge that says whether an appliance answers. */
  readonly upName: string | undefined;
}

/**
 * The appliances of one API as their polls show them. One answers while the API does and the latest poll of any task of it
 * succeeded; of each that has been polled a series says so.
 */
export class Appliances {
  readonly #settings: AppliancesSettings;
  readonly #records = new Map<string, ApplianceRecord>();
  #isApiDown = false;

  constructor(settings: AppliancesSettings) {
    this.#settings = settings;
  }

  /** How many there are. */
  get size(): number {
    return this.#records.size;
  }

  /** Whether any task of any appliance succeeded when it was last polled. */
  get someSucceeded(): boolean {
    return [...this.#records.values()].some(hasSuccess);
  }

  /** Whether any task of any appliance has been polled. */
  get somePolled(): boolean {
    return [...this.#records.values()].some(({ outcomes }) => outcomes.size > 0);
  }

  /** Every appliance, by name. */
  statuses(): readonly ApplianceStatus[] {
    return [...this.#records]
      .map(([serial, { name, outcomes, published, lastPollAt, lastSuccessAt, lastError }]) => {
        const failing = countOf(outcomes.values(), 'failed');
        return { serial, name, up: published, lastPollAt, lastSuccessAt, failing, lastError };
      })
      .sort((a, b) => byName.compare(a.name, b.name) || byName.compare(a.serial, b.serial));
  }

  /** Takes in how a poll ended. Undefined where nothing changes, or the API's own trouble explains it. */
  observe(outcome: Outcome): ApplianceChange | undefined {
    const { task, state } = outcome;
    const serial = task.appliance?.serial;
    const record = serial === undefined ? undefined : this.#records.get(serial);
    if (serial === undefined || record === undefined) return undefined;
    const now = this.#settings.clock.now();
    record.outcomes.set(task.id, state);
    record.lastPollAt = now;
    if (state === 'succeeded') record.lastSuccessAt = now;
    if (state === 'failed') record.lastError = { task, at: now, message: outcome.error.message };
    else if (record.lastError?.task.id === task.id) record.lastError = undefined;
    this.#publish(serial, record);
    if (this.#isApiDown) return undefined;
    const was = record.told;
    record.told = record.published;
    if (was === undefined || was === record.told) return undefined;
    return { serial, name: record.name, answers: record.told === true };
  }

  /** The API as a whole went down, or came back. */
  apiTurned(isDown: boolean): void {
    this.#isApiDown = isDown;
    for (const [serial, record] of this.#records) this.#publish(serial, record);
  }

  /** Takes over who there is; `gone`: the tasks that there are no longer. Whether an appliance came or went. */
  changed(tasks: readonly Task[], gone: readonly Task[]): boolean {
    const before = new Set(this.#records.keys());
    const named = new Map(tasks.flatMap(({ appliance }) => (appliance ? [[appliance.serial, appliance.name]] : [])));
    for (const [serial, record] of this.#records) {
      if (named.has(serial)) forgetTasks(record, gone);
      else {
        this.#records.delete(serial);
        this.#settings.sink.withdraw(upTask(this.#settings.api, serial));
      }
    }
    for (const [serial = '', name = ''] of named) this.#name(serial, name);
    return before.size !== this.#records.size || [...before].some((serial) => !this.#records.has(serial));
  }

  #name(serial: string, name: string): void {
    const record = this.#records.get(serial);
    if (record === undefined) this.#records.set(serial, newRecord(name));
    else if (record.name !== name) {
      record.name = name;
      record.published = undefined;
      this.#publish(serial, record);
    }
  }

  #publish(serial: string, record: ApplianceRecord): void {
    const { sink, api, upName } = this.#settings;
    const up = hasSuccess(record) && !this.#isApiDown;
    if (upName === undefined || record.published === up || record.outcomes.size === 0) return;
    record.published = up;
    const id = upTask(api, serial);
    const labels = { serial, filer: record.name };
    sink.publish({ ...NEVER_STALE, id, api }, { task: id, samples: [{ name: upName, labels, value: up ? 1 : 0 }] });
  }
}

/** What is derived from polls is right until a poll says otherwise: it has no age of its own. */
const NEVER_STALE = {
  operation: 'up',
  intervalMs: Number.POSITIVE_INFINITY,
  poll: () => Promise.reject(new Error('a derived task is never polled')),
} as const;

function upTask(api: Api, serial: string): string {
  return `${api}/${serial}/up`;
}

function newRecord(name: string): ApplianceRecord {
  return {
    name,
    outcomes: new Map(),
    published: undefined,
    told: undefined,
    lastPollAt: undefined,
    lastSuccessAt: undefined,
    lastError: undefined,
  };
}

function forgetTasks(record: ApplianceRecord, gone: readonly Task[]): void {
  for (const { id } of gone) {
    record.outcomes.delete(id);
    if (record.lastError?.task.id === id) record.lastError = undefined;
  }
}

/** As people order names: `edge-2` before `edge-10`. */
const byName = new Intl.Collator('en', { numeric: true });

function countOf<T>(values: Iterable<T>, wanted: T): number {
  let count = 0;
  for (const value of values) if (value === wanted) count += 1;
  return count;
}

function hasSuccess({ outcomes }: ApplianceRecord): boolean {
  for (const state of outcomes.values()) if (state === 'succeeded') return true;
  return false;
}
