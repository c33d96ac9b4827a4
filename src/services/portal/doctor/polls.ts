import type { Task } from '../../../contract/task.ts';
import { outcomeOf } from '../../../doctor/service-check.ts';
import { failureReason, isForbidden } from '../../../runtime/failures.ts';
import { getOrCreate } from '../../../runtime/maps.ts';
import { buildSupports } from '../appliances/builds.ts';
import type { Appliance } from '../appliances/inventory.ts';
import type { PortalCollector } from '../collector.ts';

export const MAX_APPLIANCES = 3;

/** One series of this many appliances is polled, and one more if it fails, to find appliances that are off. */
export const MAX_SAMPLED_APPLIANCES = 50;

export interface TaskPoll {
  readonly task: Task;
  /** Undefined if it succeeded. */
  readonly error: Error | undefined;
  readonly isEmpty: boolean | undefined;
}

/**
 * Polls every operation once: for one volume, and for one appliance of each kind. Exceptions are the sampled series, and
 * memory, which depends on the build.
 */
export async function pollOnce(collector: PortalCollector, sampledSeries: string | undefined, signal: AbortSignal) {
  const polls: TaskPoll[] = [];
  const poll = async (task: Task) => {
    const { result, error } = await outcomeOf(task.poll(signal), signal);
    polls.push({ task, error, isEmpty: result?.empty });
  };
  const polled = new Set<string>();
  for (;;) {
    // The inventory is the first task, and others appear with it.
    const tasks = [...collector.tasks()];
    const task = tasks.find(({ operation, appliance }) => appliance === undefined && !polled.has(operation));
    if (task === undefined) break;
    polled.add(task.operation);
    await poll(task);
  }
  const tasksOf = new Map<string, Task[]>();
  for (const task of collector.tasks()) {
    if (task.appliance !== undefined) getOrCreate(tasksOf, task.appliance.serial, () => []).push(task);
  }
  for (const { serial } of collector.appliances.slice(0, MAX_SAMPLED_APPLIANCES)) {
    const task = tasksOf.get(serial)?.find(({ operation }) => operation === sampledSeries);
    if (task !== undefined) await poll(task);
  }
  // Whether an appliance fails, or only the sampled series, is shown by one more series.
  for (const [serial, failed] of failingAppliances(polls)) {
    const task = tasksOf.get(serial)?.find(({ operation }) => operation !== sampledSeries);
    if (task !== undefined && failureReason(failed[0]?.error) !== 'timeout') await poll(task);
  }
  const failing = failingAppliances(polls);
  for (const serial of appliancesToPoll(collector.appliances.filter((one) => !failing.has(one.serial)))) {
    for (const task of tasksOf.get(serial) ?? []) {
      const key = task.operation.startsWith('memory_') ? `${task.operation} ${serial}` : task.operation;
      if (task.operation === sampledSeries || polled.has(key)) continue;
      polled.add(key);
      await poll(task);
    }
  }
  return polls;
}

/**
 * The appliances of which every poll failed, by serial, with these polls. A missing right (403) is no failure of an
 * appliance.
 */
export function failingAppliances(polls: readonly TaskPoll[]): ReadonlyMap<string, readonly TaskPoll[]> {
  const bySerial = new Map<string, TaskPoll[]>();
  for (const poll of polls) {
    if (poll.task.appliance !== undefined) getOrCreate(bySerial, poll.task.appliance.serial, () => []).push(poll);
  }
  const hasFailed = ({ error }: TaskPoll) => error !== undefined && !isForbidden(error);
  return new Map([...bySerial].filter(([, ofAppliance]) => ofAppliance.every(hasFailed)));
}

function appliancesToPoll(appliances: readonly Appliance[]): Iterable<string> {
  const kinds = new Map<string, string>();
  for (const { type, build, serial } of appliances) {
    const kind = `${type}/${buildSupports('memory_utilization_details', build) ? 'new' : 'old'}`;
    if (!kinds.has(kind)) kinds.set(kind, serial);
  }
  return [...kinds.values()].slice(0, MAX_APPLIANCES);
}
