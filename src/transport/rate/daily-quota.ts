import { inPieces, type Restoration } from '../../contract/kept.ts';
import { increment } from '../../runtime/maps.ts';

const DAY_MS = 86_400_000;
const BUCKET_MS = 60_000;

const BUCKETS_PER_DAY = DAY_MS / BUCKET_MS;

/** How much of the day's limit may be spent early after a quiet hour. */
const CREDIT_SHARE = 0.01;

/**
 * A limit of requests in any 24 hours, kept by spending it evenly: at most `limit - credit` a day, spread over the day,
 * plus a credit of one hundredth that builds up while nothing is sent. Over any 24 hours that is at most the limit.
 *
 * It starts with nothing to spend, as if the previous process had just sent a request: restarts cannot overspend, even
 * without a state file. Times are monotonic milliseconds. A limit of undefined allows everything.
 */
export class DailyQuota {
  readonly #limit: number;
  readonly #credit: number;
  readonly #msPerRequest: number;
  /** When an even spender would have caught up; in the past by as much as there is credit. */
  #level: number;
  /** Requests by minute since the epoch. */
  #spent = new Map<number, number>();
  #epoch: number;
  readonly #changed = new Set<number>();

  constructor(limit: number | undefined, now: number) {
    this.#limit = limit ?? Number.POSITIVE_INFINITY;
    this.#credit = Math.max(1, Math.floor(this.#limit * CREDIT_SHARE));
    this.#msPerRequest = limit === undefined ? 0 : DAY_MS / Math.max(1, limit - this.#credit);
    this.#level = now + this.#msPerRequest;
    this.#epoch = now;
  }

  earliest(now: number): number {
    return Math.max(now, this.#level);
  }

  spend(now: number): void {
    if (this.#msPerRequest === 0) return;
    this.#level = Math.max(this.#level, now - (this.#credit - 1) * this.#msPerRequest) + this.#msPerRequest;
    const bucket = this.#bucketOf(now);
    increment(this.#spent, bucket);
    this.#changed.add(bucket);
    for (const old of this.#spent.keys()) {
      if (old > bucket - BUCKETS_PER_DAY) break;
      this.#spent.delete(old);
      this.#changed.delete(old);
    }
  }

  get perSecond(): number {
    return this.#msPerRequest === 0 ? Number.POSITIVE_INFINITY : 1000 / this.#msPerRequest;
  }

  /** The minutes that have changed since the last call, with their requests. */
  *changes(): Generator<unknown> {
    yield* this.#pieces(this.#changed);
    this.#changed.clear();
  }

  *all(): Generator<unknown> {
    yield { epoch: this.#epoch };
    yield* this.#pieces(this.#spent.keys());
  }

  /** Only before anything is spent. `shiftMs` turns monotonic times of the process that saved it into own ones. */
  restore(shiftMs: number): Restoration {
    const spent = new Map<number, number>();
    let epoch = this.#epoch;
    return {
      put: (piece) => {
        const { epoch: saved, minutes = [] } = piece as SavedBudget;
        if (saved !== undefined) epoch = saved + shiftMs;
        for (const [minute, count] of minutes) spent.set(minute, count);
      },
      commit: () => {
        if (this.#msPerRequest === 0) return;
        this.#spent = new Map([...spent].sort(([one], [other]) => one - other));
        this.#epoch = epoch;
      },
    };
  }

  remaining(now: number): number | undefined {
    if (this.#msPerRequest === 0) return undefined;
    const oldest = this.#bucketOf(now) - BUCKETS_PER_DAY;
    let spent = 0;
    for (const [bucket, count] of this.#spent) if (bucket > oldest) spent += count;
    return Math.max(0, this.#limit - spent);
  }

  #pieces(buckets: Iterable<number>): Iterable<unknown> {
    return inPieces(
      'minutes',
      Array.from(buckets, (bucket) => [bucket, this.#spent.get(bucket) ?? 0]),
    );
  }

  #bucketOf(now: number): number {
    return Math.floor((now - this.#epoch) / BUCKET_MS);
  }
}

interface SavedBudget {
  /** The beginning of the minute 0, in monotonic milliseconds. */
  readonly epoch?: number;
  readonly minutes?: readonly (readonly [minute: number, requests: number])[];
}
