/** The least share of the limits for the tasks that wait, however many requests the tasks that go first need. */
const LEAST_LEFT = 0.1;

/**
 * The factor by which intervals grow for this demand at this pace: 1 if it fits. `first`: the demand of the tasks that go
 * first, which keep their intervals. All in requests per second.
 */
export function stretch(demand: number, allowed: number, first = 0): number {
  const left = Math.max(allowed - first, LEAST_LEFT * allowed);
  return left > 0 && Number.isFinite(left) ? Math.max(1, demand / left) : 1;
}

/**
 * The highest age that the data of a healthy task can reach, in milliseconds: its stretched interval and half an
 * interval more, because a task's slot follows half to one and a half of its interval after a poll.
 */
export function worstAgeMs(intervalMs: number, stretched: number): number {
  return intervalMs * (stretched + 0.5);
}
