import { type Explain, explainTask, ForbiddenTasks } from '../contract/causes.ts';
import { maxAgeMs } from '../polling/effective-interval.ts';
import type { ApplianceTasks, PolledTask } from '../polling/polled-task.ts';
import type { TaskRegistry } from '../polling/task-registry.ts';
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
export function* taskSummary(registry: TaskRegistry, now: number): Generator<void, TaskSummary> {
  const factor = registry.intervalFactor;
  const suspended = new Map<string, SuspendedTask & { tasks: number }>();
  const account = new Map<string, PolledTask[]>();
  const count = { total: 0, suspended: 0, overdue: 0 };
  const forbidden = new ForbiddenTasks();
  const ages: number[] = [];
  for (const polled of registry.all()) {
    const { task, appliance, facts } = polled;
    const { operation } = task;
    const reason = facts.suspended;
    forbidden.add(task, facts.error);
    if (reason !== undefined) {
      count.suspended += 1;
      getOrCreate(suspended, `${operation} ${reason}`, () => ({ operation, reason, tasks: 0 })).tasks += 1;
    } else if (appliance?.state !== 'unavailable' && isOverdue(polled, now, factor)) count.overdue += 1;
    if (appliance === undefined) getOrCreate(account, operation, () => []).push(polled);
    if (registry.isInCycle(polled) && hasResponded(polled)) ages.push(now - facts.respondedAt);
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
function isOverdue({ task, facts, addedAt }: PolledTask, now: number, factor: number): boolean {
  return now - Math.max(facts.respondedAt, addedAt) > maxAgeMs(task.intervalMs, 2 * factor);
}

export function accountReport(
  operation: string,
  tasks: readonly PolledTask[],
  now: number,
  explain: Explain,
): AccountTaskReport {
  const failing = tasks.filter(({ facts }) => facts.error !== undefined);
  const last = failing.at(-1);
  return {
    operation,
    tasks: tasks.length,
    intervalSeconds: (tasks[0]?.task.intervalMs ?? 0) / 1000,
    dataAgeSeconds: oldestSeconds(tasks, now),
    suspended: tasks.filter(({ facts }) => facts.suspended !== undefined).length,
    failing: tasks.filter(isFailing).length,
    lastError: last?.facts.error?.message ?? null,
    advice: last === undefined ? null : explainTask(explain, last.task, last.facts.error).advice,
  };
}

/** Sorts names as people expect: `edge-2` before `edge-10`. */
const byName = new Intl.Collator('en', { numeric: true });

export function appliancesByName({ appliances }: TaskRegistry): readonly ApplianceTasks[] {
  return [...appliances.values()].sort(
    (one, other) => byName.compare(one.name, other.name) || byName.compare(one.serial, other.serial),
  );
}

/** Summarizes the tasks of an appliance. `now` is monotonic, `at` is in epoch milliseconds. */
export function seriesReport({ tasks, state }: ApplianceTasks, now: number, at: number, explain: Explain) {
  const series = [...tasks];
  const failing = series.filter(isFailing);
  // A rejected series is normal, unless the service responds to no request about the appliance.
  const failed = state === 'unavailable' ? series.filter(({ facts }) => facts.error !== undefined) : failing;
  const last = failed.toSorted((one, other) => (one.facts.polledAt ?? 0) - (other.facts.polledAt ?? 0)).at(-1);
  const newest = (times: readonly (number | undefined)[]) => {
    const known = times.filter((time) => time !== undefined);
    return known.length === 0 ? undefined : Math.max(...known);
  };
  const respondedAt = newest(series.filter(hasResponded).map(({ facts }) => facts.respondedAt));
  return {
    lastPoll: rfc3339OrNull(newest(series.map(({ facts }) => facts.polledAt))),
    lastSuccess: rfc3339OrNull(respondedAt === undefined ? undefined : at - (now - respondedAt)),
    lastRecord: rfc3339OrNull(newest(series.map(({ facts }) => facts.newestRecordMs))),
    dataAgeSeconds: oldestSeconds(series, now),
    series: series.length,
    suspended: series.flatMap(({ task: { operation }, facts: { suspended: reason } }) =>
      reason === undefined ? [] : [{ operation, reason }],
    ),
    failing: failing.length,
    lastError:
      last?.facts.error === undefined
        ? null
        : {
            operation: last.task.operation,
            time: rfc3339(last.facts.polledAt ?? at),
            message: last.facts.error.message,
            advice: explainTask(explain, failed.length < series.length ? last.task : {}, last.facts.error).advice,
          },
  } satisfies Partial<ApplianceReport>;
}

function isFailing({ facts }: PolledTask): boolean {
  return facts.lastResult === 'failed';
}

function hasResponded({ facts }: PolledTask): boolean {
  return facts.respondedAt > Number.NEGATIVE_INFINITY;
}

/** Returns the seconds since the last success of the oldest task that is not suspended; null without any success. */
function oldestSeconds(tasks: readonly PolledTask[], now: number): number | null {
  const ages = tasks
    .filter((polled) => polled.facts.suspended === undefined && hasResponded(polled))
    .map(({ facts }) => now - facts.respondedAt);
  return ages.length === 0 ? null : roundToThousandth(Math.max(...ages) / 1000);
}
