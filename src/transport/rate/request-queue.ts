import type { Clock } from '../../runtime/clock.ts';
import type { DailyQuota } from './daily-quota.ts';
import type { RateFeedback, RateLimiter, SentRequest } from './rate-limiter.ts';
import { ThrottlingDetector } from './throttling-detector.ts';

type Waiter = (departure: SentRequest) => void;

/** The queue of one API: every request waits here for its turn. In order, but some go ahead. */
export class RequestQueue {
  readonly #pace: RateLimiter;
  readonly #budget: DailyQuota;
  readonly #clock: Clock;
  readonly #throttled = new ThrottlingDetector();
  readonly #priorityQueue = new Set<Waiter>();
  readonly #queue = new Set<Waiter>();
  #serving = false;
  #wake = new AbortController();

  constructor(pace: RateLimiter, budget: DailyQuota, clock: Clock) {
    this.#pace = pace;
    this.#budget = budget;
    this.#clock = clock;
  }

  /** While the service rejects everything, the last value before that: else stale values would stay fresh. */
  get sustainedPerSecond(): number {
    return Math.min(this.#pace.sustainedPerSecond(this.#clock.monotonic()), this.#budget.perSecond);
  }

  /** What is allowed now: 0 during a hold. */
  get perSecond(): number {
    if (this.waitUntil !== undefined) return 0;
    return Math.min(this.#pace.perSecond(this.#clock.monotonic()), this.#budget.perSecond);
  }

  get budgetRemaining(): number | undefined {
    return this.#budget.remaining(this.#clock.monotonic());
  }

  /** Monotonic milliseconds; undefined without a hold. */
  get waitUntil(): number | undefined {
    return this.#pace.waitUntil > this.#clock.monotonic() ? this.#pace.waitUntil : undefined;
  }

  get isThrottled(): boolean {
    return this.#throttled.isThrottled;
  }

  /** Resolves when a request may leave, and counts it as sent; with undefined as soon as `signal` aborts. */
  acquire(signal: AbortSignal, ahead = false): Promise<SentRequest | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const queue = ahead ? this.#priorityQueue : this.#queue;
      const leave = () => {
        queue.delete(depart);
        this.#wake.abort('left');
        resolve(undefined);
      };
      const depart: Waiter = (departure) => {
        signal.removeEventListener('abort', leave);
        resolve(departure);
      };
      signal.addEventListener('abort', leave, { once: true });
      queue.add(depart);
      void this.#serve();
    });
  }

  ended(departure: SentRequest, acceptance: RateFeedback): void {
    const now = this.#clock.monotonic();
    if (acceptance.state !== 'unknown') {
      const paceShare = this.#pace.perSecond(now) / this.#pace.maxPerSecond;
      this.#throttled.answered(acceptance.state === 'throttled', paceShare, now);
    }
    this.#pace.ended(departure, now, acceptance);
    this.#wake.abort('ended');
  }

  async #serve(): Promise<void> {
    if (this.#serving) return;
    this.#serving = true;
    while (this.#priorityQueue.size + this.#queue.size > 0) {
      const now = this.#clock.monotonic();
      const earliest = Math.max(this.#pace.earliest(now), this.#budget.earliest(now));
      if (earliest > now) {
        this.#wake = new AbortController();
        await this.#clock.sleep(earliest - now, this.#wake.signal);
        continue;
      }
      const queue = this.#priorityQueue.size > 0 ? this.#priorityQueue : this.#queue;
      const [depart] = queue;
      if (depart === undefined) continue;
      queue.delete(depart);
      this.#budget.spend(now);
      depart(this.#pace.started(now));
    }
    this.#serving = false;
  }
}
