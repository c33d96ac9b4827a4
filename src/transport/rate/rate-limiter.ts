import type { AdaptiveRate } from './adaptive-rate.ts';

export interface RateLimit {
  readonly requests: number;
  readonly windowMs: number;
}

export interface SentRequest {
  readonly startedAt: number;
  endedAt: number | undefined;
}

/** What a response says about the limit; `unknown` without a response. */
export type RateFeedback = 'accepted' | 'throttled' | 'unknown';

/**
 * The longest delay of a timer that later requests make up for, in milliseconds. Without it each delay would lower the
 * rate for good.
 */
const SLACK_MS = 100;

/**
 * The service is assumed to count a request at most this long after it was sent, in milliseconds, and not later than it
 * responds. Without the assumption a request that hangs would occupy its place in the window for as long as it hangs.
 */
export const MAX_TRANSIT_MS = 2_000;

/**
 * The wait after a 429 without `Retry-After`, in milliseconds: `part` of the time since the first 429, so that a limit of a
 * day costs fewer than a hundred probes.
 */
const WAIT_WITHOUT_RETRY_AFTER = { part: 1 / 8, minMs: 1_000, maxMs: 3_600_000 } as const;

/**
 * Decides when the next request may be sent. It sets no timer and reads no clock; times are monotonic milliseconds.
 *
 * Three rules apply together. Requests are spread evenly at the adaptive rate. No window of the configured length contains
 * more requests than the limit, wherever in {@link MAX_TRANSIT_MS} the service counts them. After a 429 no request is sent
 * until the wait is over; a 429 without `Retry-After` may mean a short limit or the limit of the day, so a single request
 * then probes which of the two it is.
 */
export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #adaptiveRate: AdaptiveRate;
  /** The rate that is never exceeded, in requests per second. */
  readonly maxPerSecond: number;
  /** When the next request may be sent by the adaptive rate alone. */
  #next: number;
  #waitUntil: number;
  /** When the last 429 arrived that was not ignored. */
  #rejectedAt = Number.NEGATIVE_INFINITY;
  /** The first of consecutive 429s, and the sustained rate before it. */
  #throttling: { readonly since: number; readonly sustainedBefore: number } | undefined;
  /** The single request after a 429 without `Retry-After`: `due` until it is sent, undefined if none is needed. */
  #probe: SentRequest | 'due' | undefined;
  /** The requests that may still be in the window, in the order in which they were sent. */
  readonly #sentRequests: SentRequest[] = [];

  constructor(limit: RateLimit, adaptiveRate: AdaptiveRate, now: number) {
    this.#limit = limit;
    this.#adaptiveRate = adaptiveRate;
    this.maxPerSecond = this.perSecond(now);
    this.#next = now;
    this.#waitUntil = now;
  }

  /** The allowed requests per second, apart from a wait. */
  perSecond(now: number): number {
    return this.#perSecond(this.#adaptiveRate.rate(now));
  }

  /** While the service rejects everything, the allowed rate is unknown: then the rate before the first 429 is returned. */
  sustainedPerSecond(now: number): number {
    return this.#throttling?.sustainedBefore ?? this.#perSecond(this.#adaptiveRate.sustained(now));
  }

  #perSecond(rate: number): number {
    return Math.min(rate, this.#limit.requests / this.#limit.windowMs) * 1000;
  }

  /** When the wait after a 429 ends; a time in the past if there is none. */
  get waitUntil(): number {
    return this.#waitUntil;
  }

  /** When the next request may be sent; infinite while a probe is in flight. */
  earliest(now: number): number {
    if (typeof this.#probe === 'object') return Number.POSITIVE_INFINITY;
    return Math.max(now, this.#next, this.#waitUntil, this.#windowFreeAt(now));
  }

  recordSent(now: number): SentRequest {
    this.#next = Math.max(this.#next, now - SLACK_MS) + 1 / this.#adaptiveRate.rate(now);
    const request: SentRequest = { startedAt: now, endedAt: undefined };
    this.#sentRequests.push(request);
    if (this.#probe === 'due') this.#probe = request;
    return request;
  }

  /** `retryAfterMs`: how long the service asks to wait after a 429, if it does. */
  recordEnd(request: SentRequest, now: number, feedback: RateFeedback, retryAfterMs?: number): void {
    request.endedAt = now;
    if (this.#probe === request) this.#probe = undefined;
    if (feedback === 'throttled') this.#throttle(request, now, retryAfterMs);
    if (feedback !== 'accepted') return;
    this.#adaptiveRate.recordAccepted();
    if (this.#throttling === undefined || this.#wasInFlight(request)) return;
    this.#throttling = undefined;
    this.#adaptiveRate.recordResumed();
  }

  #throttle(request: SentRequest, now: number, retryAfterMs: number | undefined): void {
    // A request that was sent before the last 429 arrived reports the same rejection. The probe that follows a rejection is due,
    // in flight, or has its response.
    if (retryAfterMs === undefined && this.#wasInFlight(request)) return;
    this.#throttling ??= { since: now, sustainedBefore: this.sustainedPerSecond(now) };
    if (retryAfterMs === undefined) this.#probe = 'due';
    const { part, minMs, maxMs } = WAIT_WITHOUT_RETRY_AFTER;
    const defaultWaitMs = Math.min(maxMs, Math.max(minMs, (now - this.#throttling.since) * part));
    this.#waitUntil = Math.max(this.#waitUntil, now + (retryAfterMs ?? defaultWaitMs));
    this.#rejectedAt = now;
    this.#adaptiveRate.recordThrottle(now, this.#waitUntil);
  }

  /** Whether the request was in flight when the last 429 arrived: then its own 429 belongs to the same rejection. */
  #wasInFlight({ startedAt }: SentRequest): boolean {
    return startedAt <= this.#rejectedAt;
  }

  #windowFreeAt(now: number): number {
    const { requests, windowMs } = this.#limit;
    const sent = this.#sentRequests;
    while (sent.length > 0 && leavesWindowAt(sent[0], windowMs) <= now) sent.shift();
    const blocking = sent.length - requests;
    return blocking < 0 ? now : leavesWindowAt(sent[blocking], windowMs);
  }
}

function leavesWindowAt(request: SentRequest | undefined, windowMs: number): number {
  if (request === undefined) return 0;
  const latest = request.startedAt + MAX_TRANSIT_MS;
  return Math.min(request.endedAt ?? latest, latest) + windowMs;
}
