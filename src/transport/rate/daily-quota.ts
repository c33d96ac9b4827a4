import { increment } from '../../runtime/maps.ts';

const DAY_MS = 86_400_000;
const BUCKET_MS = 60_000;

/** How much of the day's limit may be spent early after a quiet hour. */
const CREDIT_SHARE = 0.01;

/**
 * A limit of requests in any 24 hours, kept by spending it evenly: at most `limit - credit` a day, spread over the day,
 * plus a credit of one hundredth that builds up while nothing is sent. Over any 24 hours that is at most the limit.
 *
 * It starts without credit, as if the previous process had just spent it: restarts cannot overspend, even without a
 * state file. Times are monotonic milliseconds. A limit of undefined allows everything.
 */
export class DailyQuota {
  readonly #limit: number;
  readonly #credit: number;
  readonly #msPerRequest: number;
  /** When an even spender would have caught up; in the past by as much as there is credit. */
  #level: number;
  readonly #spent = new Map<number, number>();

  constructor(limit: number | undefined, now: number) {
    this.#limit = limit ?? Number.POSITIVE_INFINITY;
    this.#credit = Math.max(1, Math.floor(this.#limit * CREDIT_SHARE));
    this.#msPerRequest = limit === undefined ? 0 : DAY_MS / Math.max(1, limit - this.#credit);
    this.#level = now;
  }

  earliest(now: number): number {
    return Math.max(now, this.#level);
  }

  spend(now: number): void {
    if (this.#msPerRequest === 0) return;
    this.#level = Math.max(this.#level, now - (this.#credit - 1) * this.#msPerRequest) + this.#msPerRequest;
    const bucket = Math.floor(now / BUCKET_MS);
    increment(this.#spent, bucket);
    for (const old of this.#spent.keys()) {
      if (old > bucket - DAY_MS / BUCKET_MS) break;
      this.#spent.delete(old);
    }
  }

  get perSecond(): number {
    return this.#msPerRequest === 0 ? Number.POSITIVE_INFINITY : 1000 / this.#msPerRequest;
  }

  /** What was spent in the last 24 hours: requests by the age of their minute, in minutes, oldest first. */
  state(now: number): readonly (readonly [age: number, count: number])[] {
    const current = Math.floor(now / BUCKET_MS);
    const spent = [...this.#spent].map(([bucket, count]) => [current - bucket, count] as const);
    return spent.filter(([age]) => age < DAY_MS / BUCKET_MS);
  }

  /** What was saved `elapsedMs` ago, without its credit. */
  restore(spent: ReturnType<DailyQuota['state']>, elapsedMs: number, now: number): void {
    if (this.#msPerRequest === 0) return;
    const current = Math.floor(now / BUCKET_MS);
    const elapsed = Math.floor(elapsedMs / BUCKET_MS);
    const own = [...this.#spent];
    this.#spent.clear();
    for (const [age, count] of spent) this.#spent.set(current - age - elapsed, count);
    for (const [bucket, count] of own) increment(this.#spent, bucket, count);
  }

  remaining(now: number): number | undefined {
    if (this.#msPerRequest === 0) return undefined;
    const oldest = Math.floor(now / BUCKET_MS) - DAY_MS / BUCKET_MS;
    let spent = 0;
    for (const [bucket, count] of this.#spent) if (bucket > oldest) spent += count;
    return Math.max(0, this.#limit - spent);
  }
}
