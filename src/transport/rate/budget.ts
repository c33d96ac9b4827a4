import { keptCount, keptList } from '../../metrics/restored-values.ts';

const DAY_MS = 86_400_000;
const BUCKET_MS = 60_000;

/** How much of the day's limit may be spent ahead of time after a quiet hour. */
const CREDIT_SHARE = 0.01;

/**
 * A limit of requests in any 24 hours, kept by spending it evenly: at most `limit - credit` a day, spread over the day,
 * plus a credit of one hundredth that builds up while nothing is asked. Over any 24 hours that is at most the limit.
 *
 * It begins without credit, as if the process before it had just spent that: restarts cannot overspend, with nothing
 * to remember. Times are monotonic milliseconds. A limit of undefined allows everything.
 */
export class Budget {
  readonly #limit: number;
  readonly #credit: number;
  readonly #msPerRequest: number;
  /** When the account of an even spender would be level; in the past by as much as there is credit. */
  #level: number;
  readonly #spent = new Map<number, number>();

  constructor(limit: number | undefined, now: number) {
    this.#limit = limit ?? Number.POSITIVE_INFINITY;
    this.#credit = Math.max(1, Math.floor(this.#limit * CREDIT_SHARE));
    this.#msPerRequest = limit === undefined ? 0 : DAY_MS / Math.max(1, limit - this.#credit);
    this.#level = now;
  }

  /** The first moment at which one more request fits. */
  earliest(now: number): number {
    if (this.#msPerRequest === 0) return now;
    return Math.max(now, this.#level);
  }

  /** Spends one request. */
  spend(now: number): void {
    if (this.#msPerRequest === 0) return;
    this.#level = Math.max(this.#level, now - (this.#credit - 1) * this.#msPerRequest) + this.#msPerRequest;
    const bucket = Math.floor(now / BUCKET_MS);
    this.#spent.set(bucket, (this.#spent.get(bucket) ?? 0) + 1);
    for (const old of this.#spent.keys()) {
      if (old > bucket - DAY_MS / BUCKET_MS) break;
      this.#spent.delete(old);
    }
  }

  /** Requests per second that the limit allows for ever. */
  get perSecond(): number {
    return this.#msPerRequest === 0 ? Number.POSITIVE_INFINITY : 1000 / this.#msPerRequest;
  }

  /** Requests in 24 hours at most; undefined when there is no limit. */
  get limit(): number | undefined {
    return Number.isFinite(this.#limit) ? this.#limit : undefined;
  }

  /** What was spent in the last 24 hours, by minute, oldest first; ages and not moments. {@link Budget.restore} takes it. */
  state(now: number): BudgetState {
    const current = Math.floor(now / BUCKET_MS);
    const recent = [...this.#spent].map(([bucket, count]) => [current - bucket, count] as const);
    return recent.filter(([age]) => age < DAY_MS / BUCKET_MS);
  }

  /** Takes over what a process before this one had spent, `elapsedMs` after it said so. Credit is not taken over. */
  restore(saved: BudgetState, elapsedMs: number, now: number): void {
    if (this.#msPerRequest === 0) return;
    const current = Math.floor(now / BUCKET_MS);
    const elapsed = Math.floor(elapsedMs / BUCKET_MS);
    const own = [...this.#spent];
    this.#spent.clear();
    for (const [age, count] of saved) if (age >= 0) this.#spent.set(current - age - elapsed, count);
    for (const [bucket, count] of own) this.#spent.set(bucket, (this.#spent.get(bucket) ?? 0) + count);
  }

  /** What is left of the last 24 hours' limit; undefined when there is none. */
  remaining(now: number): number | undefined {
    if (this.#msPerRequest === 0) return undefined;
    const oldest = Math.floor(now / BUCKET_MS) - DAY_MS / BUCKET_MS;
    let spent = 0;
    for (const [bucket, count] of this.#spent) if (bucket > oldest) spent += count;
    return Math.max(0, this.#limit - spent);
  }
}

/** Requests by the age of their minute, as kept over restarts. */
export type BudgetState = readonly (readonly [minutesAgo: number, requests: number])[];

/** What comes back of what a budget had spent, checked. Throws a TypeError where it is something else. */
export function keptBudget(saved: unknown): BudgetState {
  return keptList(saved).map((minute) => {
    const [minutesAgo, requests] = keptList(minute);
    return [keptCount(minutesAgo), keptCount(requests)];
  });
}
