import type { Clock } from '../../runtime/clock.ts';
import type { DailyQuota } from './daily-quota.ts';
import type { RateFeedback, RateLimiter, SentRequest } from './rate-limiter.ts';
import { ThrottlingDetector } from './throttling-detector.ts';

type Waiter = (request: SentRequest) => void;

/** Every request of one service waits here until it may be sent: in order, except that some have priority. */
export class RequestQueue {
  readonly #rateLimiter: RateLimiter;
  readonly #dailyQuota: DailyQuota;
  readonly #clock: Clock;
  readonly #detector = new ThrottlingDetector();
  readonly #priorityQueue = new Set<Waiter>();
  readonly #queue = new Set<Waiter>();
  #serving = false;
  #wake = new AbortController();

  constructor(rateLimiter: RateLimiter, dailyQuota: DailyQuota, clock: Clock) {
    this.#rateLimiter = rateLimiter;
    this.#dailyQuota = dailyQuota;
    this.#clock = clock;
  }

  /** While the service rejects everything, this is the rate before: values would never be stale by a rate of zero. */
  get sustainedPerSecond(): number {
    return Math.min(this.#rateLimiter.sustainedPerSecond(this.#clock.monotonic()), this.#dailyQuota.perSecond);
  }

  /** The requests per second that are allowed now: 0 during a wait. */
  get perSecond(): number {
    if (this.waitUntil !== undefined) return 0;
    return Math.min(this.#rateLimiter.perSecond(this.#clock.monotonic()), this.#dailyQuota.perSecond);
  }

  get dailyQuotaRemaining(): number | undefined {
    return this.#dailyQuota.remaining(this.#clock.monotonic());
  }

  /** When the wait after a 429 ends, in monotonic milliseconds; undefined if there is none. */
  get waitUntil(): number | undefined {
    return this.#rateLimiter.waitUntil > this.#clock.monotonic() ? this.#rateLimiter.waitUntil : undefined;
  }

  get isThrottled(): boolean {
    return this.#detector.isThrottled;
  }

  /** Resolves when a request may be sent, and counts it as sent; resolves with undefined as soon as `signal` aborts. */
  acquire(signal: AbortSignal, hasPriority = false): Promise<SentRequest | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const queue = hasPriority ? this.#priorityQueue : this.#queue;
      const leave = () => {
        queue.delete(onSend);
        this.#wake.abort('left');
        resolve(undefined);
      };
      const onSend: Waiter = (request) => {
        signal.removeEventListener('abort', leave);
        resolve(request);
      };
      signal.addEventListener('abort', leave, { once: true });
      queue.add(onSend);
      void this.#serve();
    });
  }

  recordEnd(request: SentRequest, feedback: RateFeedback): void {
    const now = this.#clock.monotonic();
    if (feedback.state !== 'unknown') {
      const rateShare = this.#rateLimiter.perSecond(now) / this.#rateLimiter.maxPerSecond;
      this.#detector.recordResponse(feedback.state === 'throttled', rateShare, now);
    }
    this.#rateLimiter.recordEnd(request, now, feedback);
    this.#wake.abort('ended');
  }

  async #serve(): Promise<void> {
    if (this.#serving) return;
    this.#serving = true;
    while (this.#priorityQueue.size + this.#queue.size > 0) {
      const now = this.#clock.monotonic();
      const earliest = Math.max(this.#rateLimiter.earliest(now), this.#dailyQuota.earliest(now));
      if (earliest > now) {
        this.#wake = new AbortController();
        await this.#clock.sleep(earliest - now, this.#wake.signal);
        continue;
      }
      const queue = this.#priorityQueue.size > 0 ? this.#priorityQueue : this.#queue;
      const [onSend] = queue;
      if (onSend === undefined) continue;
      queue.delete(onSend);
      this.#dailyQuota.spend(now);
      onSend(this.#rateLimiter.recordSent(now));
    }
    this.#serving = false;
  }
}
