import type { AdaptiveRate } from './adaptive-rate.ts';

export interface RateLimit {
  readonly requests: number;
  readonly windowMs: number;
}

export interface SentRequest {
  readonly startedAt: number;
  endedAt: number | undefined;
}

export type RateFeedback =
  | { readonly state: 'taken' | 'unknown' }
  | { readonly state: 'throttled'; readonly retryAfterMs: number | undefined };

/** How much of a timer's delay is caught up, in milliseconds: otherwise every delay would lower the pace for good. */
const SLACK_MS = 100;

/** The latest time after sending at which the service may count a request that is still open, in milliseconds. */
const MAX_TRANSIT_MS = 2_000;

/** In milliseconds: a share of the time since the last success. A limit of a day costs less than a hundred probes. */
const WAIT_WITHOUT_RETRY_AFTER = { part: 1 / 8, shortestMs: 1_000, longestMs: 3_600_000 } as const;

/**
 * Decides when the next request may leave. Sets no timer and reads no clock; times are monotonic milliseconds.
 *
 * Three rules apply together. Requests leave evenly, at the rate of the law. No window of the configured length has more
 * than the limit. As the service may count a request at any moment until its answer, a request counts until one window
 * after its answer. After a 429 nothing leaves until the hold is over. A 429 without `Retry-After` may mean a short limit
 * or the limit of the day, so a single request then probes which it is.
 */
export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #law: AdaptiveRate;
  /** The rate that is never exceeded, in requests per second. */
  readonly maxPerSecond: number;
  #next: number;
  #holdUntil: number;
  /** When the service was first and last found to reject everything, and the sustained rate before that. */
  #throttling: { readonly since: number; latest: number; readonly sustainedBefore: number } | undefined;
  #probe: SentRequest | 'due' | undefined;
  readonly #departures: SentRequest[] = [];

  constructor(limit: RateLimit, law: AdaptiveRate, now: number) {
    this.#limit = limit;
    this.#law = law;
    this.maxPerSecond = this.perSecond(now);
    this.#next = now;
    this.#holdUntil = now;
  }

  /** Requests per second that the pace allows, ignoring a hold. */
  perSecond(now: number): number {
    return this.#perSecond(this.#law.rate(now));
  }

  /** As of the last time the service accepted requests: while it rejects everything, the allowed rate is unknown. */
  sustainedPerSecond(now: number): number {
    return this.#throttling?.sustainedBefore ?? this.#perSecond(this.#law.sustained(now));
  }

  #perSecond(rate: number): number {
    return Math.min(rate, this.#limit.requests / this.#limit.windowMs) * 1000;
  }

  /** When the hold after a rejection ends; in the past without a hold. */
  get waitUntil(): number {
    return this.#holdUntil;
  }

  /** When the next request may leave; infinite until the probe is answered. */
  earliest(now: number): number {
    if (typeof this.#probe === 'object') return Number.POSITIVE_INFINITY;
    return Math.max(now, this.#next, this.#holdUntil, this.#windowFreeAt(now));
  }

  started(now: number): SentRequest {
    this.#next = Math.max(this.#next, now - SLACK_MS) + 1 / this.#law.rate(now);
    const departure: SentRequest = { startedAt: now, endedAt: undefined };
    this.#departures.push(departure);
    if (this.#probe === 'due') this.#probe = departure;
    return departure;
  }

  ended(departure: SentRequest, now: number, acceptance: RateFeedback): void {
    departure.endedAt = now;
    if (this.#probe === departure) this.#probe = undefined;
    if (acceptance.state === 'throttled') this.#throttle(departure, now, acceptance.retryAfterMs);
    if (acceptance.state !== 'taken') return;
    this.#law.accepted();
    if (this.#throttling === undefined || departure.startedAt < this.#throttling.latest) return;
    this.#throttling = undefined;
    this.#law.resumed();
  }

  #throttle(departure: SentRequest, now: number, retryAfterMs: number | undefined): void {
    // Requests that were in flight together are rejected together: that counts as one rejection.
    const together = this.#throttling !== undefined && departure.startedAt < this.#throttling.latest;
    this.#throttling ??= { since: now, latest: now, sustainedBefore: this.sustainedPerSecond(now) };
    if (retryAfterMs === undefined) this.#probe = 'due';
    if (together && retryAfterMs === undefined) return;
    const untoldMs = Math.max(
      WAIT_WITHOUT_RETRY_AFTER.shortestMs,
      (now - this.#throttling.since) * WAIT_WITHOUT_RETRY_AFTER.part,
    );
    this.#holdUntil = Math.max(
      this.#holdUntil,
      now + (retryAfterMs ?? Math.min(untoldMs, WAIT_WITHOUT_RETRY_AFTER.longestMs)),
    );
    if (!together) this.#throttling.latest = now;
    this.#law.throttled(now, this.#holdUntil);
  }

  #windowFreeAt(now: number): number {
    const { requests, windowMs } = this.#limit;
    const departures = this.#departures;
    while (departures.length > 0 && leavesWindowAt(departures[0], windowMs) <= now) departures.shift();
    const blocking = departures.length - requests;
    return blocking < 0 ? now : leavesWindowAt(departures[blocking], windowMs);
  }
}

function leavesWindowAt(departure: SentRequest | undefined, windowMs: number): number {
  if (departure === undefined) return 0;
  const latest = departure.startedAt + MAX_TRANSIT_MS;
  return Math.min(departure.endedAt ?? latest, latest) + windowMs;
}
