import { type Explain, explainTask, ForbiddenTasks } from '../contract/causes.ts';
import { maxAgeMs } from '../polling/effective-interval.ts';
import type { Fleet } from '../polling/fleet.ts';
import type { PolledAppliance, PolledTask } from '../polling/polled-task.ts';
import { getOrCreate } from '../runtime/maps.ts';
import type { AccountTaskReport, ApiReport, ApplianceReport, SuspendedTask } from './model.ts';
import { rfc3339, rfc3339OrNull, roundToThousandth } from './time-text.ts';

export interface TaskSummary extends Pick<ApiReport, 'tasks' | 'suspended'> {
  /** The ages of the tasks of a cycle; null without any result. */
  readonly medianAgeSeconds: number | null;
  readonly worstAgeSeconds: number | null;
  readonly forbidden: ForbiddenTasks;
  /** The tasks of the account, by operation. */
  readonly account: ReadonlyMap<string, readonly PolledTask[]>;
}

const TASKS_PER_STEP = 500;

/** Reads every task of a service once. It yields wherever it may be interrupted, because there may be very many. */
export function* taskSummary(fleet: Fleet, now: number): Generator<void, TaskSummary> {
  const factor = fleet.intervalFactor;
  const suspended = new Map<string, SuspendedTask & { tasks: number }>();
  const account = new Map<string, PolledTask[]>();
  const count = { total: 0, suspended: 0, overdue: 0 };
  const forbidden = new ForbiddenTasks();
  const ages: number[] = [];
  for (const polled of fleet.tasks) {
    const { task, appliance, state } = polled;
    const { operation } = task;
    const reason = state.suspended;
    forbidden.add(task, state.error);
    if (reason !== undefined) {
      count.suspended += 1;
      getOrCreate(suspended, `${operation} ${reason}`, () => ({ operation, reason, tasks: 0 })).tasks += 1;
    } else if (appliance?.state !== 'unavailable' && isOverdue(polled, now, factor)) count.overdue += 1;
    if (appliance === undefined) getOrCreate(account, operation, () => []).push(polled);
    if (fleet.isInCycle(polled) && hasResponded(polled)) ages.push(now - state.respondedAt);
    count.total += 1;
    if (count.total % TASKS_PER_STEP === 0) yield;
  }
  const sorted = Float64Array.from(ages).sort();
  yield;
  const seconds = (ms: number | undefined) => (ms === undefined ? null : ms / 1000);
  return {
    tasks: count,
    suspended: [...suspended.values()],
    account,
    forbidden,
    medianAgeSeconds: seconds(sorted[Math.floor(sorted.length / 2)]),
    worstAgeSeconds: seconds(sorted.at(-1)),
  };
}

/** Whether the task has missed more than one poll. */
function isOverdue({ task, state, addedAt }: PolledTask, now: number, factor: number): boolean {
  return now - Math.max(state.respondedAt, addedAt) > maxAgeMs(task.intervalMs, 2 * factor);
}

export function accountReport(
  operation: string,
  tasks: readonly PolledTask[],
  now: number,
  explain: Explain,
): AccountTaskReport {
  const failing = tasks.filter(({ state }) => state.error !== undefined);
  const last = failing.at(-1);
  return {
    operation,
    tasks: tasks.length,
    intervalSeconds: (tasks[0]?.task.intervalMs ?? 0) / 1000,
    dataAgeSeconds: oldestSeconds(tasks, now),
    suspended: tasks.filter(({ state }) => state.suspended !== undefined).length,
    failing: tasks.filter(isFailing).length,
    lastError: last?.state.error?.message ?? null,
    advice: last === undefined ? null : explainTask(explain, last.task, last.state.error).advice,
  };
}

/** Sorts names as people expect: `edge-2` before `edge-10`. */
const byName = new Intl.Collator('en', { numeric: true });

export function appliancesByName({ appliances }: Fleet): readonly PolledAppliance[] {
  return [...appliances.values()].sort(
    (one, other) => byName.compare(one.name, other.name) || byName.compare(one.serial, other.serial),
  );
}

/** Summarizes the tasks of an appliance. `now` is monotonic, `at` is in epoch milliseconds. */
export function seriesReport(
  { tasks, state: ofAppliance }: PolledAppliance,
  now: number,
  at: number,
  explain: Explain,
) {
  const series = [...tasks];
  const failing = series.filter(isFailing);
  // A rejected series is normal, unless the service responds to no request about the appliance.
  const failed = ofAppliance === 'unavailable' ? series.filter(({ state }) => state.error !== undefined) : failing;
  const last = failed.toSorted((one, other) => one.state.polledAt - other.state.polledAt).at(-1);
  const newest = (times: readonly number[]) => (times.length === 0 ? undefined : Math.max(...times));
  const asTime = (moment: number | undefined) => (moment === undefined ? null : rfc3339(at - (now - moment)));
  return {
    lastPoll: asTime(newest(series.filter(({ isPolled }) => isPolled).map(({ state }) => state.polledAt))),
    lastSuccess: asTime(newest(series.filter(hasResponded).map(({ state }) => state.respondedAt))),
    lastRecord: rfc3339OrNull(newest(series.flatMap(({ state }) => state.newestRecordMs ?? []))),
    dataAgeSeconds: oldestSeconds(series, now),
    series: series.length,
    suspended: series.flatMap(({ task: { operation }, state: { suspended: reason } }) =>
      reason === undefined ? [] : [{ operation, reason }],
    ),
    failing: failing.length,
    lastError:
      last?.state.error === undefined
        ? null
        : {
            operation: last.task.operation,
            time: rfc3339(at - (now - last.state.polledAt)),
            message: last.state.error.message,
            advice: explainTask(explain, failed.length < series.length ? last.task : {}, last.state.error).advice,
          },
  } satisfies Partial<ApplianceReport>;
}

function isFailing({ state }: PolledTask): boolean {
  return state.lastResult === 'failed';
}

function hasResponded({ state }: PolledTask): boolean {
  return state.respondedAt > Number.NEGATIVE_INFINITY;
}

/** Returns the seconds since the last success of the oldest task that is not suspended; null without any success. */
function oldestSeconds(tasks: readonly PolledTask[], now: number): number | null {
  const ages = tasks
    .filter((polled) => polled.state.suspended === undefined && hasResponded(polled))
    .map(({ state }) => now - state.respondedAt);
  return ages.length === 0 ? null : roundToThousandth(Math.max(...ages) / 1000);
}
