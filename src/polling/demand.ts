/** The requests per second that polling these at their intervals takes. */
export function demandPerSecond(tasks: Iterable<{ readonly intervalMs: number }>): number {
  let demand = 0;
  for (const { intervalMs } of tasks) demand += 1000 / intervalMs;
  return demand;
}

/** The factor by which intervals grow for this demand at this pace: 1 if it fits. */
export function stretch(demand: number, allowed: number): number {
  return allowed > 0 && Number.isFinite(allowed) ? Math.max(1, demand / allowed) : 1;
}

/**
 * The highest age that the data of a healthy task can reach, in milliseconds: its stretched interval and half an
 * interval more, because a task's slot follows half to one and a half of its interval after a poll.
 */
export function worstAgeMs(intervalMs: number, stretched: number): number {
  return intervalMs * (stretched + 0.5);
}
