/** The successes of one task. Moments are monotonic milliseconds, -Infinity for never. */
export interface Successes {
  readonly lastAt: number;
  /**
   * The success before the last one; -Infinity if more than one poll failed between the two, or if the last one brought
   * nothing new.
   */
  readonly previousAt: number;
  /** Polls in a row without success since then. */
  readonly misses: number;
}

/** Whether an appliance or a service is up. It is replaced by {@link nextVerdict}, and nothing else is remembered. */
export interface Verdict {
  /** Undefined until the first success, or until it is known that there is none. */
  readonly isUp: boolean | undefined;
  /** When `isUp` got this value. */
  readonly since: number;
  readonly lastSuccessAt: number;
  /** The effective interval at the last success. If the interval becomes shorter, the verdict still waits as long as before. */
  readonly intervalMs: number;
}

export interface VerdictConditions {
  readonly now: number;
  /** The effective interval of the most frequent task. */
  readonly intervalMs: number;
  /** The variable STALE_AFTER: a number of intervals. */
  readonly staleAfter: number;
  /** Nothing is concluded from the time before this moment, because nothing was polled then. */
  readonly resumedAt: number;
  /** Before the first verdict: every task was polled or enough polls failed, so a first success is not awaited any longer. */
  readonly isFirstSuccessOverdue: boolean;
}

/**
 * How long a verdict waits, in intervals. After `staleAfter` and `firstPoll` intervals without a success the task on which
 * it waits is polled at once, and if that fails, again after `secondPoll`: two polls within seconds could fall into one
 * gap between two records.
 */
const WAIT = { firstPoll: 0.5, secondPoll: 0.75, end: 1 } as const;

/** A task works while fewer of its latest polls than this failed. */
const MISSES_UNTIL_BROKEN = 2;

/** Whether a task that has succeeded before did not miss both of its latest polls. */
export function isWorking({ misses }: Successes): boolean {
  return misses < MISSES_UNTIL_BROKEN;
}

export function newVerdict(now: number): Verdict {
  return { isUp: undefined, since: now, lastSuccessAt: Number.NEGATIVE_INFINITY, intervalMs: 0 };
}

export function fallenVerdict(verdict: Verdict, now: number): Verdict {
  return { ...verdict, isUp: false, since: now };
}

/**
 * The one rule for the records of an appliance and for the responses of a service:
 *
 * - The first success makes it up.
 * - It stays up while any task succeeds. After `staleAfter` and a half intervals without a success, a task that still
 *   works is polled at once, also one with a long interval. It falls when no task works any more, and after `staleAfter`
 *   and one intervals at the latest.
 * - It rises when one task has succeeded twice since the fall, with at most one failed poll between.
 *
 * Both directions count polls of one task, so behaviour that does not change cannot change a verdict back and forth.
 * Returns the new verdict, and the task on whose next poll it waits, if that has to be polled now.
 */
export function nextVerdict<Task>(
  before: Verdict,
  tasks: Iterable<Task>,
  successesOf: (task: Task) => Successes,
  conditions: VerdictConditions,
): { readonly verdict: Verdict; readonly awaited: Task | undefined } {
  const { now, intervalMs, staleAfter, resumedAt, isFirstSuccessOverdue } = conditions;
  let working: Task | undefined;
  let workedAt = Number.NEGATIVE_INFINITY;
  let lastSuccessAt = before.lastSuccessAt;
  let hasSucceededTwice = false;
  for (const task of tasks) {
    const successes = successesOf(task);
    const { lastAt, previousAt } = successes;
    if (lastAt > lastSuccessAt) lastSuccessAt = lastAt;
    if (lastAt > workedAt && isWorking(successes)) {
      working = task;
      workedAt = lastAt;
    }
    if (previousAt >= before.since && lastAt - previousAt < (staleAfter - WAIT.firstPoll) * intervalMs)
      hasSucceededTwice = true;
  }
  const isNew = lastSuccessAt > before.lastSuccessAt;
  const verdict: Verdict = { ...before, lastSuccessAt, intervalMs: isNew ? intervalMs : before.intervalMs };
  const settled = (isUp: boolean) => ({ verdict: { ...verdict, isUp, since: now }, awaited: undefined });
  const unchanged = { verdict, awaited: undefined };

  if (before.isUp === false) return hasSucceededTwice ? settled(true) : unchanged;
  if (before.isUp === undefined && isNew) return settled(true);

  const quietMs = now - Math.max(lastSuccessAt, before.since, resumedAt);
  const quietIntervals = quietMs / Math.max(verdict.intervalMs, intervalMs) - staleAfter;
  if (before.isUp === undefined)
    return isFirstSuccessOverdue || quietIntervals >= WAIT.firstPoll ? settled(false) : unchanged;
  if (quietIntervals < WAIT.firstPoll) return unchanged;
  if (working === undefined || quietIntervals >= WAIT.end) return settled(false);
  const isSecondPollEarly = successesOf(working).misses > 0 && quietIntervals < WAIT.secondPoll;
  return { verdict, awaited: isSecondPollEarly ? undefined : working };
}
