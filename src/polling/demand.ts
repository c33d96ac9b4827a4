/** The least share of the limits for the tasks that wait, however many requests the tasks that go first need. */
const MIN_LEFT = 0.1;

/** The factor by which intervals grow, 1 if all fits; in requests a second. Tasks that go first keep theirs. */
export function stretch(demand: number, allowed: number, first = 0): number {
  const left = Math.max(allowed - first, MIN_LEFT * allowed);
  return left > 0 && Number.isFinite(left) ? Math.max(1, demand / left) : 1;
}

/** The highest age of a healthy task's data: its slot is half to one and a half of its interval after a poll. */
export function worstAgeMs(intervalMs: number, stretched: number): number {
  return intervalMs * (stretched + 0.5);
}
