import type { TaskFacts } from './task-facts.ts';

/** What a verdict reads of a task: when it last succeeded, and how many polls in a row have not. */
export interface Subject {
  readonly lastAt: (facts: TaskFacts) => number;
  readonly misses: (facts: TaskFacts) => number;
}

export const RESPONSES: Subject = { lastAt: ({ respondedAt }) => respondedAt, misses: ({ failures }) => failures };

export const RECORDS: Subject = {
  lastAt: ({ lastRecordsAt }) => lastRecordsAt,
  misses: ({ recordless }) => recordless,
};

/** Whether a task succeeded before and did not miss both of its latest polls. */
export function works({ lastAt, misses }: Subject, facts: TaskFacts): boolean {
  return lastAt(facts) > Number.NEGATIVE_INFINITY && misses(facts) < 2;
}

/** What a review of a verdict needs from outside. */
interface Review<Task> {
  /** The effective interval of the most frequent task. */
  readonly intervalMs: number;
  /** When the process last began to run, after its start or a pause: nothing is concluded from the time before. */
  readonly resumedAt: number;
  /** Whether every task was polled once: a verdict that is still unknown need not wait any longer. */
  readonly isOver: boolean;
  /** The task that succeeded last and works. */
  readonly next: () => Task | undefined;
}

/**
 * Whether a group of tasks is up: one rule for the records of an appliance, for its responses, and for the responses of
 * the service. The first success makes an unknown verdict up. A verdict stays up while any task succeeds; after
 * `staleAfter` and a half intervals without a success, a task that works is polled at once. If that is a miss, it is
 * polled again a quarter of an interval later: two polls within seconds could fall into one gap between two records.
 * The verdict falls when no task works, and after `staleAfter` and one intervals at the latest. It rises when one task
 * succeeds twice since the fall, with at most one miss between. Both count polls, so behaviour that does not change
 * cannot change the verdict back and forth. Times are monotonic milliseconds.
 */
export class Verdict<Task extends { readonly facts: TaskFacts }> {
  readonly #subject: Subject;
  readonly #staleAfter: number;
  readonly #createdAt: number;
  #isUp: boolean | undefined;
  #lastSuccessAt = Number.NEGATIVE_INFINITY;
  #fellAt = Number.NEGATIVE_INFINITY;
  /** The interval that applied at the last success, so that lifting a limit does not end the time earlier. */
  #intervalMs = 0;
  /** The task on which the verdict waits. */
  #probed: Task | undefined;

  constructor(subject: Subject, staleAfter: number, now: number) {
    this.#subject = subject;
    // Two successes need two intervals, however long values are exposed.
    this.#staleAfter = Math.max(2, staleAfter);
    this.#createdAt = now;
  }

  get isUp(): boolean | undefined {
    return this.#isUp;
  }

  get lastSuccessAt(): number {
    return this.#lastSuccessAt;
  }

  /**
   * Called when a task has succeeded; `before` is what was known of it. `isNew`: the success proves more than the
   * previous one did.
   */
  succeed(now: number, before: TaskFacts, intervalMs: number, isNew = true): void {
    const lastAt = this.#subject.lastAt(before);
    this.#lastSuccessAt = now;
    this.#intervalMs = intervalMs;
    this.#probed = undefined;
    const isRecent = now - lastAt < (this.#staleAfter - 0.5) * intervalMs;
    const isSecond = isNew && lastAt >= this.#fellAt && this.#subject.misses(before) <= 1 && isRecent;
    if (this.#isUp === undefined || isSecond) this.#isUp = true;
  }

  /** Lets time and failures take effect; returns the task that has to be polled at once, because the verdict waits for it. */
  review(now: number, review: Review<Task>): Task | undefined {
    const isQuiet = now >= this.#quietUntil(0.5, review);
    if (this.#isUp === false || (!isQuiet && (this.#isUp || !review.isOver))) return undefined;
    const mayWait = this.#isUp && now < this.#quietUntil(1, review);
    const isWaiting = this.#probed !== undefined && works(this.#subject, this.#probed.facts);
    if (!mayWait) this.#probed = undefined;
    else if (!isWaiting) this.#probed = review.next();
    if (this.#probed === undefined) {
      this.fall(now);
      return undefined;
    }
    const hasMissed = this.#subject.misses(this.#probed.facts) > 0;
    return hasMissed && now < this.#quietUntil(0.75, review) ? undefined : this.#probed;
  }

  fall(now: number): void {
    this.#isUp = false;
    this.#fellAt = now;
    this.#probed = undefined;
  }

  /** When the next review is needed if nothing happens before; infinite while it is down. */
  deadline(now: number, review: Pick<Review<Task>, 'intervalMs' | 'resumedAt'>): number {
    if (this.#isUp === false) return Number.POSITIVE_INFINITY;
    const times = [0.5, 0.75, 1].map((more) => this.#quietUntil(more, review));
    return times.find((time) => time > now) ?? now;
  }

  /** Returns the time at which `staleAfter` and `more` intervals have passed without a success. */
  #quietUntil(more: number, { intervalMs, resumedAt }: Pick<Review<Task>, 'intervalMs' | 'resumedAt'>): number {
    const since = Math.max(this.#lastSuccessAt, this.#createdAt, resumedAt);
    return since + (this.#staleAfter + more) * Math.max(this.#intervalMs, intervalMs);
  }
}
