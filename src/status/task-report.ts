import { type Explain, explainTask } from '../contract/causes.ts';
import type { Fleet } from '../polling/fleet.ts';
import { maxAgeMs } from '../polling/fleet.ts';
import type { PolledAppliance, PolledTask } from '../polling/polled-task.ts';
import type { SuspensionReason } from '../polling/task-state.ts';
import type { Clock } from '../runtime/clock.ts';
import { getOrCreate } from '../runtime/maps.ts';
import { rfc3339, roundToThousandth } from './time-text.ts';

/** Summarizes the tasks of a service. `now` is monotonic. */
export function tasksReport(fleet: Fleet, now: number) {
  const suspended = new Map<string, { operation: string; reason: SuspensionReason; tasks: number }>();
  const ages: number[] = [];
  let overdue = 0;
  for (const polled of fleet.tasks) {
    const { task, state } = polled;
    const { suspended: reason } = state;
    if (reason !== undefined) {
      const { operation } = task;
      getOrCreate(suspended, `${operation} ${reason}`, () => ({ operation, reason, tasks: 0 })).tasks += 1;
    }
    if (isOverdue(polled, now, fleet.intervalFactor)) overdue += 1;
    if (fleet.isInCycle(polled) && hasResponded(polled)) ages.push(now - state.respondedAt);
  }
  const sorted = Float64Array.from(ages).sort();
  const kinds = [...suspended.values()];
  return {
    tasks: {
      total: fleet.tasks.length,
      suspended: kinds.reduce((sum, { tasks }) => sum + tasks, 0),
      overdue,
    },
    /** By operation and reason. */
    suspended: kinds,
    /** The ages of the tasks of a cycle; null without any result. */
    medianAgeSeconds: secondsOrNull(sorted[Math.floor(sorted.length / 2)]),
    worstAgeSeconds: secondsOrNull(sorted.at(-1)),
  };
}

/** Whether the task has missed more than one poll. Suspended tasks and those of appliances that do not respond have not. */
function isOverdue({ task, state, appliance, addedAt }: PolledTask, now: number, factor: number): boolean {
  if (state.suspended !== undefined || appliance?.state === 'unavailable') return false;
  return now - Math.max(state.respondedAt, addedAt) > maxAgeMs(task.intervalMs, 2 * factor);
}

/** Summarizes the tasks of the account, such as the inventory or `/data`, by operation. */
export function accountReports(fleet: Fleet, now: number, explain: Explain) {
  const byOperation = new Map<string, PolledTask[]>();
  for (const polled of fleet.tasks) {
    if (polled.appliance === undefined) getOrCreate(byOperation, polled.task.operation, () => []).push(polled);
  }
  return Array.from(byOperation, ([operation, tasks]) => {
    const last = tasks.findLast(({ state }) => state.error !== undefined);
    return {
      operation,
      /** 1, or the number of volumes if there is a task for each. */
      tasks: tasks.length,
      intervalSeconds: (tasks[0]?.task.intervalMs ?? 0) / 1000,
      /** The seconds since the last success of the oldest task that is not suspended. */
      dataAgeSeconds: oldestSeconds(tasks, now),
      suspended: tasks.filter(({ state }) => state.suspended !== undefined).length,
      /** How many tasks failed in their last poll. */
      failing: tasks.filter(isFailing).length,
      lastError: last?.state.error?.message ?? null,
      advice: last === undefined ? null : explainTask(explain, last.task, last.state.error).advice,
    };
  });
}

/** Summarizes the tasks of an appliance. */
export function seriesReport({ tasks, state: ofAppliance }: PolledAppliance, clock: Clock, explain: Explain) {
  const now = clock.monotonic();
  const timeOf = (moment: number) => (Number.isFinite(moment) ? rfc3339(clock.now() - (now - moment)) : null);
  const newestRecordMs = Math.max(...tasks.map(({ state }) => state.newestRecordMs ?? Number.NEGATIVE_INFINITY));
  // A rejected series is normal, unless the service responds to no request about the appliance.
  const failed = tasks.filter(
    (polled) => isFailing(polled) || (ofAppliance === 'unavailable' && polled.state.error !== undefined),
  );
  const [last] = failed.toSorted((one, other) => other.state.polledAt - one.state.polledAt);
  return {
    lastPoll: timeOf(Math.max(...tasks.map(({ state }) => state.polledAt))),
    lastSuccess: timeOf(Math.max(...tasks.map(({ state }) => state.respondedAt))),
    /** The time of the newest record of any series. */
    lastRecord: Number.isFinite(newestRecordMs) ? rfc3339(newestRecordMs) : null,
    /** The seconds since the last success of the oldest series that is not suspended. */
    dataAgeSeconds: oldestSeconds(tasks, now),
    /** How many series are polled, including those that are suspended. */
    series: tasks.length,
    suspended: tasks.flatMap(({ task: { operation }, state: { suspended: reason } }) =>
      reason === undefined ? [] : [{ operation, reason }],
    ),
    failing: tasks.filter(isFailing).length,
    /** The latest failure; null after that series has succeeded again. */
    lastError:
      last?.state.error === undefined
        ? null
        : {
            operation: last.task.operation,
            time: timeOf(last.state.polledAt),
            message: last.state.error.message,
            // The advice is about the series alone if others respond.
            advice: explainTask(explain, failed.length < tasks.length ? last.task : {}, last.state.error).advice,
          },
  };
}

function isFailing({ state }: PolledTask): boolean {
  return state.lastResult === 'failed';
}

function hasResponded({ state }: PolledTask): boolean {
  return state.respondedAt > Number.NEGATIVE_INFINITY;
}

function oldestSeconds(tasks: readonly PolledTask[], now: number): number | null {
  const responded = tasks.filter((polled) => polled.state.suspended === undefined && hasResponded(polled));
  return secondsOrNull(
    responded.length === 0 ? undefined : Math.max(...responded.map(({ state }) => now - state.respondedAt)),
  );
}

function secondsOrNull(ms: number | undefined): number | null {
  return ms === undefined ? null : roundToThousandth(ms / 1000);
}
