/** The least share of the limits for the tasks that wait, however many requests the priority tasks need. */
const MIN_REMAINING = 0.1;

/** The factor by which the limits lengthen intervals, 1 if all fits; in requests a second. Priority tasks keep theirs. */
export function intervalFactor(demand: number, allowed: number, priority = 0): number {
  const remaining = Math.max(allowed - priority, MIN_REMAINING * allowed);
  return remaining > 0 && Number.isFinite(remaining) ? Math.max(1, demand / remaining) : 1;
}

/** The highest age of a healthy task's data: its slot is half to one and a half of its interval after a poll. */
export function maxAgeMs(intervalMs: number, factor: number): number {
  return intervalMs * (factor + 0.5);
}
