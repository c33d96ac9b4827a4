import { isForbidden } from '../runtime/failures.ts';
import { type Explain, type Explanation, explainTask } from './causes.ts';
import type { Task } from './task.ts';

/** How many series a sentence names. */
const MAX_NAMED = 5;

/** A task, and why its latest poll failed. */
interface LatestPoll {
  readonly task: Task;
  readonly error?: Error | undefined;
}

/** Explains what is forbidden among the tasks: the series, and each operation of the account. */
export function explainForbidden(polls: readonly LatestPoll[], explain: Explain): readonly Explanation[] {
  // A list of the inventory is explained as a gap.
  const ofAccount = polls.filter(
    ({ task, error }) => task.appliance === undefined && !task.discoversTasks && isForbidden(error),
  );
  const byOperation = new Map(ofAccount.map((poll) => [poll.task.operation, poll]));
  const explanations = [...byOperation].map(([operation, { task, error }]) => ({
    happened: `requests for ${operation} ${rejection(error)}`,
    advice: explainTask(explain, task, error).advice,
  }));
  return [explainForbiddenSeries(polls, explain) ?? [], explanations].flat();
}

/** Explains all series at once, because one right or licence usually covers several; undefined if none is forbidden. */
export function explainForbiddenSeries(polls: readonly LatestPoll[], explain: Explain): Explanation | undefined {
  const ofSeries = polls.filter(({ task }) => task.appliance !== undefined);
  const forbidden = ofSeries.filter(({ error }) => isForbidden(error));
  if (forbidden.length === 0) return undefined;
  const settings = new Map(forbidden.map(({ task }) => [task.operation, task.without ?? '']));
  const series = settings.size > MAX_NAMED ? `${settings.size} series` : [...settings.keys()].join(', ');
  const { size } = new Set(forbidden.map(({ task }) => task.appliance?.serial));
  const appliances = size === 1 ? '1 appliance' : `${size} appliances`;
  const isPart = settings.size < new Set(ofSeries.map(({ task }) => task.operation)).size;
  const without = [...settings.values()].join(',').replaceAll(' to PORTAL_SERIES,add ', ',');
  return {
    happened: `requests for ${series} of ${appliances} ${rejection(forbidden.at(-1)?.error)}`,
    advice: explain('forbidden', isPart ? { without } : {}).advice,
  };
}

/** Without the request, which names one appliance. */
function rejection(error: Error | undefined): string | undefined {
  return error?.message.replace(/^[A-Z]+ \S+ /, '');
}
