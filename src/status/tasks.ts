import { worstAgeMs } from '../polling/demand.ts';
import { type PolledAppliance, REST_REASONS, type RestReason, type TaskState } from '../polling/task-state.ts';
import type { Tasks } from '../polling/tasks.ts';
import type { AccountTaskReport, ApplianceReport, RestingTask } from './model.ts';
import { rfc3339, rounded, timeOf } from './text.ts';

/** The tasks of an API together. */
export interface TaskSummary {
  readonly total: number;
  /** How many tasks are backed off for each reason, including 0. */
  readonly restingByReason: ReadonlyMap<RestReason, number>;
  /** How many tasks are backed off, by operation and reason. */
  readonly resting: readonly (RestingTask & { readonly tasks: number })[];
  /**
   * How many tasks have missed more than one poll: no success for two and a half of their intervals, as stretched by the
   * limits. Without tasks that are backed off.
   */
  readonly overdue: number;
  /** The ages of the tasks of the sweep; undefined without any result. */
  readonly medianAgeSeconds: number | undefined;
  readonly worstAgeSeconds: number | undefined;
  /** Tasks of no appliance, by operation. */
  readonly account: ReadonlyMap<string, readonly TaskState[]>;
}

/** How many tasks are processed before an interruption. */
const TASKS_A_STEP = 500;

/** Reads every task of an API once; yields where it may be interrupted, because there may be very many. */
export function* taskSummary(tasks: Tasks, now: number): Generator<void, TaskSummary> {
  const stretched = tasks.stretched(now);
  yield;
  const restingByReason = new Map<RestReason, number>(REST_REASONS.map((reason) => [reason, 0]));
  const resting = new Map<string, RestingTask & { tasks: number }>();
  const account = new Map<string, TaskState[]>();
  let total = 0;
  let overdue = 0;
  for (const state of tasks.all()) {
    const { task, resting: reason, confirmedAt, addedAt } = state;
    const { operation } = task;
    if (reason !== undefined) {
      restingByReason.set(reason, (restingByReason.get(reason) ?? 0) + 1);
      const alike = resting.get(`${operation} ${reason}`) ?? { operation, reason, tasks: 0 };
      alike.tasks += 1;
      resting.set(`${operation} ${reason}`, alike);
    } else if (now - (confirmedAt ?? addedAt) > worstAgeMs(task.intervalMs, 2 * stretched)) overdue += 1;
    if (state.appliance === undefined) {
      const alike = account.get(operation) ?? [];
      alike.push(state);
      account.set(operation, alike);
    }
    total += 1;
    if (total % TASKS_A_STEP === 0) yield;
  }
  const ages = Float64Array.from(agesOf(tasks.sweep, now)).sort();
  yield;
  return {
    ...{ total, restingByReason, resting: [...resting.values()], overdue, account },
    medianAgeSeconds: inSeconds(ages[Math.floor(ages.length / 2)]),
    worstAgeSeconds: inSeconds(ages.at(-1)),
  };
}

export function accountReport(operation: string, states: readonly TaskState[], now: number): AccountTaskReport {
  const failing = states.filter(isFailing);
  return {
    operation,
    tasks: states.length,
    intervalSeconds: (states[0]?.task.intervalMs ?? 0) / 1000,
    dataAgeSeconds: oldestSeconds(states, now),
    resting: states.filter(({ resting }) => resting !== undefined).length,
    failing: failing.length,
    lastError: failing.at(-1)?.error?.message ?? null,
  };
}

/** In the order that people expect: `edge-2` before `edge-10`. */
const byName = new Intl.Collator('en', { numeric: true });

export function appliancesByName({ appliances }: Tasks): readonly PolledAppliance[] {
  return [...appliances.values()].sort(
    (one, other) => byName.compare(one.name, other.name) || byName.compare(one.serial, other.serial),
  );
}

/** What the tasks of an appliance say of it; `now` is monotonic, `at` epoch milliseconds. */
export function seriesReport({ tasks }: PolledAppliance, now: number, at: number) {
  const states = [...tasks];
  const failing = states.filter(isFailing);
  const last = failing.sort((one, other) => (one.polledAt ?? 0) - (other.polledAt ?? 0)).at(-1);
  const newest = (times: readonly (number | undefined)[]) => {
    const known = times.filter((time) => time !== undefined);
    return known.length === 0 ? undefined : Math.max(...known);
  };
  const confirmedAt = newest(states.map((state) => state.confirmedAt));
  return {
    lastPoll: timeOf(newest(states.map(({ polledAt }) => polledAt))),
    lastSuccess: timeOf(confirmedAt === undefined ? undefined : at - (now - confirmedAt)),
    lastRecord: timeOf(newest(states.map(({ recordAt }) => recordAt))),
    dataAgeSeconds: oldestSeconds(states, now),
    series: states.length,
    resting: states.flatMap(({ task: { operation }, resting: reason }) => (reason ? [{ operation, reason }] : [])),
    failing: failing.length,
    lastError:
      last?.error === undefined
        ? null
        : { operation: last.task.operation, time: rfc3339(last.polledAt ?? at), message: last.error.message },
  } satisfies Partial<ApplianceReport>;
}

function isFailing({ standing }: TaskState): boolean {
  return standing === 'failed';
}

/** The time since the last success of the oldest task that is not backed off; null without any success. */
function oldestSeconds(states: readonly TaskState[], now: number): number | null {
  const awake = states.filter(({ resting }) => resting === undefined);
  const oldest = agesOf(awake, now).reduce((most, age) => Math.max(most, age), Number.NEGATIVE_INFINITY);
  return Number.isFinite(oldest) ? rounded(oldest / 1000) : null;
}

function agesOf(states: readonly TaskState[], now: number): readonly number[] {
  return states
    .filter(({ confirmedAt }) => confirmedAt !== undefined)
    .map(({ confirmedAt = now }) => now - confirmedAt);
}

function inSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}
