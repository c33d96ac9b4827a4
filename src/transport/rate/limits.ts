import pLimit from 'p-limit';
import type { Clock } from '../../runtime/clock.ts';
import { PostponedError } from '../../runtime/errors.ts';
import type { Random } from '../../runtime/random.ts';
import { AdaptiveRate } from './adaptive-rate.ts';
import { DailyQuota } from './daily-quota.ts';
import { type RateFeedback, type RateLimit, RateLimiter, type SentRequest } from './rate-limiter.ts';
import { AccountThrottling, ThrottledKeys } from './throttled.ts';

/**
 * What came of sending a request once. `failed`: the service responded, so it counted the request within its limits.
 * `lost`: there was no response. `throttled`: it returned 429. `repeats`: how often the request is sent again at most.
 */
export type Attempt<Value> =
  | { readonly state: 'succeeded'; readonly value: Value }
  | { readonly state: 'failed' | 'lost'; readonly error: Error; readonly repeats: number }
  | {
      readonly state: 'throttled';
      readonly error: Error;
      readonly repeats: number;
      readonly retryAfterMs: number | undefined;
    };

/** What the limits need to know of a request. */
export interface Sender {
  /** What the service may throttle alone, such as the serial of an appliance; undefined for the account. */
  readonly key?: string | undefined;
  /** True for requests that decide what else is sent: they overtake all others that wait. */
  readonly hasPriority?: boolean | undefined;
}

export interface LimitSettings {
  /** The ceiling in any window of its length. */
  readonly limit: RateLimit;
  /** The ceiling in 24 hours; undefined for none. */
  readonly dailyLimit: number | undefined;
  /** The highest request rate, in requests per millisecond. */
  readonly maxPerMs: number;
  /** The highest number of requests in flight. */
  readonly concurrency: number;
}

/** A failed request is repeated only once for so many successes, so an outage doubles no load. */
const SUCCESSES_PER_REPETITION = 10;

/** At the start, and at most, 20 repetitions are allowed in a row. */
const MAX_SUCCESSES = 20 * SUCCESSES_PER_REPETITION;

/** The longest delay of the first repetition. */
const FIRST_DELAY_MS = 500;

/**
 * Sends the requests of one service within its limits: each waits in one queue until a place in flight is free and the
 * rate, the window and the daily quota allow it. This is the only place that sends a request again.
 */
export class ServiceLimits {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #rateLimiter: RateLimiter;
  /** Requests in flight are limited here, and nowhere else. */
  readonly #places: ReturnType<typeof pLimit>;
  readonly #throttledKeys = new ThrottledKeys();
  readonly #accountThrottling = new AccountThrottling();
  readonly #priorityQueue = new Set<Leave>();
  readonly #queue = new Set<Leave>();
  /** The successes that no repetition has used up. */
  #successes = MAX_SUCCESSES;
  #isServing = false;
  /** Ends the sleep of the loop that serves the queue. */
  #wake = new AbortController();
  readonly dailyQuota: DailyQuota;

  constructor(
    { limit, dailyLimit, maxPerMs, concurrency }: LimitSettings,
    { clock, random }: { readonly clock: Clock; readonly random: Random },
  ) {
    const now = clock.monotonic();
    this.#clock = clock;
    this.#random = random;
    this.#rateLimiter = new RateLimiter(limit, new AdaptiveRate(maxPerMs, now), now);
    this.#places = pLimit(concurrency);
    this.dailyQuota = new DailyQuota(dailyLimit, now);
  }

  get requestsInFlight(): number {
    return this.#places.activeCount;
  }

  /** The requests per second that are allowed now: 0 during a wait. */
  get perSecond(): number {
    if (this.waitUntil !== undefined) return 0;
    return Math.min(this.#rateLimiter.perSecond(this.#clock.monotonic()), this.dailyQuota.perSecond);
  }

  /**
   * The request rate from which the effective interval follows. During a wait it is the rate before the wait: with a rate
   * of zero, no value would ever become stale.
   */
  get sustainedPerSecond(): number {
    return Math.min(this.#rateLimiter.sustainedPerSecond(this.#clock.monotonic()), this.dailyQuota.perSecond);
  }

  /** When the wait after a 429 ends, in monotonic milliseconds; undefined if there is none. */
  get waitUntil(): number | undefined {
    return this.#rateLimiter.waitUntil > this.#clock.monotonic() ? this.#rateLimiter.waitUntil : undefined;
  }

  /** The requests that remain of the last 24 hours; undefined without a limit. */
  get dailyQuotaRemaining(): number | undefined {
    return this.dailyQuota.remaining(this.#clock.monotonic());
  }

  /** Whether the service allows clearly less than is configured. */
  get isThrottled(): boolean {
    return this.#accountThrottling.isThrottled;
  }

  /**
   * Calls `attempt` when the request may be sent, and again after a failure that is worth a repetition. Rejects with the
   * last error, with a PostponedError if the key has to wait alone, or with the reason of `signal` if it aborts before the
   * request is sent. `attempt` never rejects.
   */
  async send<Value>(
    attempt: () => Promise<Attempt<Value>>,
    { key, hasPriority = false }: Sender,
    signal: AbortSignal,
  ): Promise<Value> {
    this.#assertMaySend(key);
    for (let attempts = 1; ; attempts += 1) {
      const result = await this.#sendInTurn(attempt, key, hasPriority, signal);
      if (result.state === 'succeeded') {
        this.#successes = Math.min(MAX_SUCCESSES, this.#successes + 1);
        return result.value;
      }
      if (attempts > result.repeats) throw result.error;
      // After a 429 the rate limiter makes the request wait, so it needs neither an allowance nor a delay of its own.
      if (result.state === 'throttled') continue;
      if (this.#successes < SUCCESSES_PER_REPETITION) throw result.error;
      this.#successes -= SUCCESSES_PER_REPETITION;
      // The delay doubles each time, and half of it is random.
      const delayMs = FIRST_DELAY_MS * 2 ** (attempts - 1) * (0.5 + this.#random() / 2);
      await this.#clock.sleep(delayMs, signal);
    }
  }

  #assertMaySend(key: string | undefined): void {
    const now = this.#clock.monotonic();
    const until = this.#throttledKeys.admit(key, now);
    if (until === undefined) return;
    const seconds = Math.ceil((until - now) / 1000);
    const why = `the service returns 429 for ${key} alone, which waits for ${seconds} s`;
    throw new PostponedError(`The request was not sent: ${why}.`, until);
  }

  /** Waits in the queue, and sends the request once. */
  #sendInTurn<Value>(
    attempt: () => Promise<Attempt<Value>>,
    key: string | undefined,
    hasPriority: boolean,
    signal: AbortSignal,
  ): Promise<Attempt<Value>> {
    return new Promise((resolve, reject) => {
      const queue = hasPriority ? this.#priorityQueue : this.#queue;
      const giveUp = () => {
        queue.delete(leave);
        this.#wake.abort('given up');
        reject(signal.reason);
      };
      const leave: Leave = (request) => {
        signal.removeEventListener('abort', giveUp);
        const sent = this.#places(() => this.#sendNow(attempt, key, request));
        resolve(sent);
        // p-limit frees the place before it settles the promise, so the loop finds it free.
        void sent.then(() => this.#wake.abort('place free'));
      };
      if (signal.aborted) return reject(signal.reason);
      signal.addEventListener('abort', giveUp, { once: true });
      queue.add(leave);
      void this.#serve();
    });
  }

  async #sendNow<Value>(
    attempt: () => Promise<Attempt<Value>>,
    key: string | undefined,
    request: SentRequest,
  ): Promise<Attempt<Value>> {
    const result = await attempt();
    if (result.state === 'lost') this.#recordEnd(request, 'unknown');
    else if (result.state === 'throttled') {
      const { retryAfterMs } = result;
      const now = this.#clock.monotonic();
      const isAlone = this.#throttledKeys.recordThrottled(key, request.startedAt, now, retryAfterMs);
      // The limit of this key says nothing about the account, and the next request about it has to wait.
      this.#recordEnd(request, isAlone ? 'unknown' : 'throttled', retryAfterMs);
      if (isAlone) return { ...result, repeats: 0 };
    } else {
      this.#throttledKeys.recordAccepted(key, request.startedAt);
      this.#recordEnd(request, 'accepted');
    }
    return result;
  }

  #recordEnd(request: SentRequest, feedback: RateFeedback, retryAfterMs?: number): void {
    const now = this.#clock.monotonic();
    if (feedback !== 'unknown') {
      const rateShare = this.#rateLimiter.perSecond(now) / this.#rateLimiter.maxPerSecond;
      this.#accountThrottling.recordResponse(feedback === 'throttled', rateShare, now);
    }
    this.#rateLimiter.recordEnd(request, now, feedback, retryAfterMs);
  }

  /** Lets the waiting requests leave one after the other, while there are any. */
  async #serve(): Promise<void> {
    if (this.#isServing) return;
    this.#isServing = true;
    for (;;) {
      const [leave] = this.#priorityQueue.size > 0 ? this.#priorityQueue : this.#queue;
      if (leave === undefined) break;
      const now = this.#clock.monotonic();
      const earliest = this.#earliest(now);
      if (earliest > now) {
        this.#wake = new AbortController();
        await this.#clock.sleep(earliest - now, this.#wake.signal);
        continue;
      }
      this.#priorityQueue.delete(leave);
      this.#queue.delete(leave);
      this.dailyQuota.recordSent(now);
      leave(this.#rateLimiter.recordSent(now));
    }
    this.#isServing = false;
  }

  /**
   * When the next request may be sent; infinite until a place is free. A request must not be counted as sent while it still
   * waits for a place: the service would count it later than the window assumes.
   */
  #earliest(now: number): number {
    if (this.#places.activeCount >= this.#places.concurrency) return Number.POSITIVE_INFINITY;
    return Math.max(this.#rateLimiter.earliest(now), this.dailyQuota.earliest(now));
  }
}

/** Sends a request that waited in the queue. */
type Leave = (request: SentRequest) => void;
