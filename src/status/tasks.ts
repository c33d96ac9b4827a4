import type { Task } from '../metrics/task.ts';
import type { TaskState } from '../polling/task-state.ts';
import type { Tasks } from '../polling/tasks.ts';
import type { AccountTaskReport, RestingTask } from './model.ts';

/** The tasks of one appliance together. */
export interface ApplianceTasks {
  series: number;
  /** Of the oldest task that is not backed off and has returned data. */
  oldestSeconds: number | null;
  readonly resting: RestingTask[];
  /** How many failed in their last poll, and the latest failure; `at` in epoch milliseconds. */
  failing: number;
  lastError: { readonly operation: string; readonly at: number; readonly message: string } | null;
}

export const NO_TASKS: ApplianceTasks = { series: 0, oldestSeconds: null, resting: [], failing: 0, lastError: null };

export interface TaskSummary {
  /** By serial. */
  readonly appliances: ReadonlyMap<string, ApplianceTasks>;
  readonly resting: readonly (RestingTask & { readonly tasks: number })[];
  /** Tasks of no appliance, by operation. */
  readonly account: readonly AccountTaskReport[];
}

/** How many tasks are processed before an interruption. */
const TASKS_A_STEP = 500;

/** Reads every task of an API once; yields where it may be interrupted, because there may be very many. */
export function* taskSummary(tasks: Tasks, now: number): Generator<void, TaskSummary> {
  const appliances = new Map<string, ApplianceTasks>();
  const resting = new Map<string, RestingTask & { tasks: number }>();
  const account = new Map<string, Mutable<AccountTaskReport>>();
  let looked = 0;
  for (const state of tasks.all()) {
    const { task, resting: reason } = state;
    const { operation, appliance } = task;
    const age = state.confirmedAt === undefined ? null : rounded((now - state.confirmedAt) / 1000);
    if (appliance === undefined) {
      const own = taken(account, operation, () => accountTask(task));
      own.tasks += 1;
      noteAccount(own, age, state);
    } else {
      const own = taken(appliances, appliance.serial, () => ({ ...NO_TASKS, resting: [] }));
      own.series += 1;
      noteSeries(own, age, state);
    }
    if (reason !== undefined) {
      taken(resting, `${operation} ${reason}`, () => ({ operation, reason, tasks: 0 })).tasks += 1;
    }
    looked += 1;
    if (looked % TASKS_A_STEP === 0) yield;
  }
  return { appliances, resting: [...resting.values()], account: [...account.values()] };
}

/** A number rounded to a thousandth, for readers. */
export function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}

/** The same for a value that may be unknown. */
export function roundedOrNull(value: number | undefined): number | null {
  return value === undefined ? null : rounded(value);
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

function accountTask({ operation, intervalMs }: Task): Mutable<AccountTaskReport> {
  return {
    operation,
    tasks: 0,
    intervalSeconds: intervalMs / 1000,
    dataAgeSeconds: null,
    resting: 0,
    failing: 0,
    lastError: null,
  };
}

function noteAccount(
  own: Mutable<AccountTaskReport>,
  age: number | null,
  { resting, standing, error }: TaskState,
): void {
  if (resting !== undefined) own.resting += 1;
  else own.dataAgeSeconds = older(own.dataAgeSeconds, age);
  if (standing !== 'failed' || error === undefined) return;
  own.failing += 1;
  own.lastError = error.cause.message;
}

function noteSeries(own: ApplianceTasks, age: number | null, { task, resting, standing, error }: TaskState): void {
  if (resting !== undefined) own.resting.push({ operation: task.operation, reason: resting });
  else own.oldestSeconds = older(own.oldestSeconds, age);
  if (standing !== 'failed' || error === undefined) return;
  own.failing += 1;
  if (own.lastError !== null && own.lastError.at > error.at) return;
  own.lastError = { operation: task.operation, at: error.at, message: error.cause.message };
}

function older(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.max(one, other);
}

function taken<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
