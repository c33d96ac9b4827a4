import { worstAgeMs } from '../polling/demand.ts';
import type { PolledAppliance, TaskState } from '../polling/task-state.ts';
import type { Tasks } from '../polling/tasks.ts';
import { getOrCreate } from '../runtime/maps.ts';
import type { AccountTaskReport, ApiReport, ApplianceReport, RestingTask } from './model.ts';
import { rfc3339, rfc3339OrNull, roundToThousandth } from './time-text.ts';

export interface TaskSummary extends Pick<ApiReport, 'tasks' | 'resting'> {
  /** The ages of the tasks of the sweep; null without any result. */
  readonly medianAgeSeconds: number | null;
  readonly worstAgeSeconds: number | null;
  /** Tasks of no appliance, by operation. */
  readonly account: ReadonlyMap<string, readonly TaskState[]>;
}

const TASKS_A_STEP = 500;

/** Reads every task of an API once; yields where it may be interrupted, because there may be very many. */
export function* taskSummary(tasks: Tasks, now: number): Generator<void, TaskSummary> {
  const stretched = tasks.stretched(now);
  yield;
  const resting = new Map<string, RestingTask & { tasks: number }>();
  const account = new Map<string, TaskState[]>();
  const count = { total: 0, resting: 0, overdue: 0 };
  for (const state of tasks.all()) {
    const { task, backedOff: reason, confirmedAt, addedAt } = state;
    const { operation } = task;
    if (reason !== undefined) {
      count.resting += 1;
      getOrCreate(resting, `${operation} ${reason}`, () => ({ operation, reason, tasks: 0 })).tasks += 1;
    } else if (
      state.appliance?.shown?.state !== 'unavailable' &&
      now - (confirmedAt ?? addedAt) > worstAgeMs(task.intervalMs, 2 * stretched)
    )
      count.overdue += 1;
    if (state.appliance === undefined) getOrCreate(account, operation, () => []).push(state);
    count.total += 1;
    if (count.total % TASKS_A_STEP === 0) yield;
  }
  const ages = Float64Array.from(agesOf(tasks.sweep, now)).sort();
  yield;
  const seconds = (ms: number | undefined) => (ms === undefined ? null : ms / 1000);
  return {
    tasks: count,
    resting: [...resting.values()],
    account,
    medianAgeSeconds: seconds(ages[Math.floor(ages.length / 2)]),
    worstAgeSeconds: seconds(ages.at(-1)),
  };
}

export function accountReport(operation: string, states: readonly TaskState[], now: number): AccountTaskReport {
  const failing = states.filter(isFailing);
  return {
    operation,
    tasks: states.length,
    intervalSeconds: (states[0]?.task.intervalMs ?? 0) / 1000,
    dataAgeSeconds: oldestSeconds(states, now),
    resting: states.filter(({ backedOff }) => backedOff !== undefined).length,
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
    lastPoll: rfc3339OrNull(newest(states.map(({ polledAt }) => polledAt))),
    lastSuccess: rfc3339OrNull(confirmedAt === undefined ? undefined : at - (now - confirmedAt)),
    lastRecord: rfc3339OrNull(newest(states.map(({ recordAt }) => recordAt))),
    dataAgeSeconds: oldestSeconds(states, now),
    series: states.length,
    resting: states.flatMap(({ task: { operation }, backedOff: reason }) => (reason ? [{ operation, reason }] : [])),
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
  const awake = states.filter(({ backedOff }) => backedOff === undefined);
  const oldest = agesOf(awake, now).reduce((most, age) => Math.max(most, age), Number.NEGATIVE_INFINITY);
  return Number.isFinite(oldest) ? roundToThousandth(oldest / 1000) : null;
}

function agesOf(states: readonly TaskState[], now: number): readonly number[] {
  return states
    .filter(({ confirmedAt }) => confirmedAt !== undefined)
    .map(({ confirmedAt = now }) => now - confirmedAt);
}
