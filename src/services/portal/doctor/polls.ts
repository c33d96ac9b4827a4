import type { Task } from '../../../contract/task.ts';
import { asError } from '../../../runtime/errors.ts';
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
  readonly error?: Error;
  readonly isEmpty?: boolean;
}

/** Polls every operation once: the inventory first, because the other tasks depend on it. */
export async function pollOnce(collector: PortalCollector, sampledSeries: string | undefined, signal: AbortSignal) {
  const polls: TaskPoll[] = [];
  const polled = new Set<string>();
  // One appliance and one volume are polled for each operation. Exceptions are memory, which depends on the build, and the sampled series.
  const keyOf = ({ operation, appliance }: Task) =>
    operation.startsWith('memory_') || operation === sampledSeries ? `${operation} ${appliance?.serial}` : operation;
  for (;;) {
    const sampled = new Set(collector.appliances.slice(0, MAX_SAMPLED_APPLIANCES).map(({ serial }) => serial));
    const failing = failingAppliances(polls);
    const chosen = appliancesToPoll(collector.appliances.filter(({ serial }) => !failing.has(serial)));
    // Whether the appliance fails, or only the sampled series, is shown by one more series.
    const isDoubtful = ([first, ...more]: readonly TaskPoll[] = []) =>
      first !== undefined && more.length === 0 && failureReason(first.error) !== 'timeout';
    const task = firstOf(collector.tasks(), (candidate) => {
      const { operation, appliance } = candidate;
      if (appliance === undefined) return !polled.has(keyOf(candidate));
      const { serial } = appliance;
      const errors = failing.get(serial);
      if (errors !== undefined) return isDoubtful(errors) && operation !== sampledSeries;
      const isWanted = operation === sampledSeries ? sampled.has(serial) : chosen.has(serial);
      return isWanted && !polled.has(keyOf(candidate));
    });
    if (task === undefined) return polls;
    polled.add(keyOf(task));
    try {
      polls.push({ task, isEmpty: (await task.poll(signal)).empty });
    } catch (error) {
      if (signal.aborted) throw error;
      polls.push({ task, error: asError(error) });
    }
  }
}

function firstOf<Item>(items: Iterable<Item>, isChosen: (item: Item) => boolean): Item | undefined {
  for (const item of items) if (isChosen(item)) return item;
  return undefined;
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

function appliancesToPoll(appliances: readonly Appliance[]): ReadonlySet<string> {
  const kinds = new Map<string, string>();
  for (const { type, build, serial } of appliances) {
    const kind = `${type}/${buildSupports('memory_utilization_details', build) ? 'new' : 'old'}`;
    if (!kinds.has(kind)) kinds.set(kind, serial);
  }
  return new Set([...kinds.values()].slice(0, MAX_APPLIANCES));
}
