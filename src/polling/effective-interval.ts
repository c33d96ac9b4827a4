/** Waiting tasks get at least this share of the limits, however many requests the priority tasks need. */
const MIN_REMAINING = 0.1;

/**
 * Returns the factor by which the limits lengthen intervals; 1 if every request fits. All arguments are requests per
 * second. Priority tasks keep their interval.
 */
export function intervalFactor(demand: number, allowed: number, priority = 0): number {
  const remaining = Math.max(allowed - priority, MIN_REMAINING * allowed);
  return remaining > 0 && Number.isFinite(remaining) ? Math.max(1, demand / remaining) : 1;
}

/** Returns the longest time between two polls of a healthy task: the next slot is half to one and a half intervals later. */
export function maxAgeMs(intervalMs: number, factor: number): number {
  return intervalMs * (factor + 0.5);
}
