/** What is asked for at an interval, in milliseconds; while it rests at the longer one. */
interface Asked {
  readonly intervalMs: number;
  readonly restMs?: number;
}

/** Requests per second that polling these takes: at their intervals, and at rest at those. */
export function demandPerSecond<Task extends Asked>(
  tasks: Iterable<Task>,
  rests: (task: Task) => boolean = () => false,
): number {
  let demand = 0;
  for (const task of tasks) demand += 1000 / (rests(task) ? (task.restMs ?? task.intervalMs) : task.intervalMs);
  return demand;
}

/** How many times its interval a task has to wait when so much is asked of a pace: 1 where it fits. */
export function stretch(demand: number, allowed: number): number {
  return allowed > 0 && Number.isFinite(allowed) ? Math.max(1, demand / allowed) : 1;
}

/**
 * The worst age that the data of a healthy task can reach, in milliseconds: its interval as the limits stretch it, and
 * half an interval more, for a task's slot comes at least half and at most one and a half of its interval after a poll.
 */
export function worstAgeMs(intervalMs: number, stretched: number): number {
  return intervalMs * (stretched + 0.5);
}
