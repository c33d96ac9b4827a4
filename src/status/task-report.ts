import { type Explain, explainTask } from '../contract/causes.ts';
import type { Fleet } from '../polling/fleet.ts';
import { maxAgeMs } from '../polling/fleet.ts';
import type { PolledTask } from '../polling/polled-task.ts';
import type { SuspensionReason, TaskState } from '../polling/task-state.ts';
import type { Clock } from '../runtime/clock.ts';
import { getOrCreate } from '../runtime/maps.ts';

/** Summarizes the tasks of a service. `now` is monotonic. */
export function tasksReport(fleet: Fleet, now: number) {
  const suspended: Record<SuspensionReason, number> = { forbidden: 0, not_found: 0, rejected: 0, empty: 0 };
  let worstAgeSeconds: number | null = null;
  let overdue = 0;
  for (const polled of fleet.tasks) {
    const { state } = polled;
    if (state.suspended !== undefined) suspended[state.suspended] += 1;
    if (isOverdue(polled, now, fleet.intervalFactor)) overdue += 1;
    if (fleet.isInCycle(polled) && hasResponded(state))
      worstAgeSeconds = Math.max(worstAgeSeconds ?? 0, (now - state.respondedAt) / 1000);
  }
  return {
    total: fleet.tasks.length,
    overdue,
    suspended,
    /** The highest age of a result of a task of a cycle; null without any result. */
    worstAgeSeconds,
  };
}

/** Whether the task has missed more than one poll. Suspended tasks and those of appliances that do not respond have not. */
function isOverdue({ task, state, appliance, addedAt }: PolledTask, now: number, factor: number): boolean {
  if (state.suspended !== undefined || appliance?.state === 'unavailable') return false;
  return now - Math.max(state.respondedAt, addedAt) > maxAgeMs(task.intervalMs, 2 * factor);
}

/** Summarizes the tasks of the account, such as the inventory or `/data`, by operation. */
export function accountReports(fleet: Fleet, clock: Clock, explain: Explain) {
  const byOperation = new Map<string, PolledTask[]>();
  for (const polled of fleet.tasks) {
    if (polled.appliance === undefined) getOrCreate(byOperation, polled.task.operation, () => []).push(polled);
  }
  return Array.from(byOperation, ([operation, tasks]) => ({
    operation,
    intervalSeconds: (tasks[0]?.task.intervalMs ?? 0) / 1000,
    ...groupReport(tasks, clock, explain),
  }));
}

export type GroupReport = ReturnType<typeof groupReport>;

/** Summarizes the tasks of an appliance, or those of one operation of the account. */
export function groupReport(tasks: readonly PolledTask[], clock: Clock, explain: Explain) {
  const now = clock.monotonic();
  const timeOf = (moment: number) => (Number.isFinite(moment) ? rfc3339(clock.now() - (now - moment)) : null);
  const newestRecordMs = Math.max(...tasks.map(({ state }) => state.newestRecordMs ?? Number.NEGATIVE_INFINITY));
  const appliance = tasks[0]?.appliance;
  // A rejected series is normal, unless the service responds to no request about the appliance.
  const showsRejections = appliance === undefined || appliance.state === 'unavailable';
  const failed = tasks.filter(({ state }) => (showsRejections ? state.error !== undefined : isFailing(state)));
  const [last] = failed.toSorted((one, other) => other.state.polledAt - one.state.polledAt);
  // How to exclude a series is advice only while other series of the appliance respond.
  const explained = appliance !== undefined && failed.length === tasks.length ? {} : last?.task;
  return {
    lastPoll: timeOf(Math.max(...tasks.map(({ state }) => state.polledAt))),
    lastSuccess: timeOf(Math.max(...tasks.map(({ state }) => state.respondedAt))),
    /** The time of the newest record of any task. */
    lastRecord: Number.isFinite(newestRecordMs) ? rfc3339(newestRecordMs) : null,
    /** How many tasks are polled, including those that are suspended. */
    tasks: tasks.length,
    suspended: tasks.flatMap(({ task: { operation }, state: { suspended: reason } }) =>
      reason === undefined ? [] : [{ operation, reason }],
    ),
    failing: tasks.filter(({ state }) => isFailing(state)).length,
    /** The latest failure; null after that task has succeeded again. */
    lastError:
      last?.state.error === undefined
        ? null
        : {
            operation: last.task.operation,
            time: timeOf(last.state.polledAt),
            message: last.state.error.message,
            advice: explainTask(explain, explained ?? {}, last.state.error).advice,
          },
  };
}

function isFailing(state: TaskState): boolean {
  return state.lastResult === 'failed';
}

function hasResponded(state: TaskState): boolean {
  return state.respondedAt > Number.NEGATIVE_INFINITY;
}

/** The latest time that a date can represent: a service may send any number of seconds. */
const LAST_DATE_MS = 8.64e15;

/** Formats a time in epoch milliseconds. */
export function rfc3339(at: number): string {
  return new Date(Math.min(at, LAST_DATE_MS)).toISOString();
}
