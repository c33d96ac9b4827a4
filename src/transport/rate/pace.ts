import type { RateLaw } from './adaptive-rate.ts';

/** At most so many requests in any window of so many milliseconds. */
export interface RateLimit {
  readonly requests: number;
  readonly windowMs: number;
}

/** A request on its way, for {@link Pace.ended}. */
export interface Departure {
  readonly startedAt: number;
  endedAt: number | undefined;
}

/** How an answer bears on the pace: taken, refused with 429, or no answer that would tell. */
export type Verdict =
  | { readonly state: 'taken' | 'unknown' }
  | { readonly state: 'refused'; readonly retryAfterMs: number | undefined };

/** How far a late timer may be caught up with, in milliseconds: without it every delay would lower the pace for good. */
const SLACK_MS = 100;

/** How long after it was sent a request that is still open may yet be counted by the service, in milliseconds. */
const LONGEST_TRANSIT_MS = 2_000;

/**
 * How long everything is held after a 429 without `Retry-After`: a part of the time since nothing is taken any more,
 * from a second to an hour, in milliseconds. A short limit is found again an eighth of its length late; of the day's
 * limit not a hundred requests a day ask whether it is over.
 */
const UNTOLD_HOLD = { part: 1 / 8, shortestMs: 1_000, longestMs: 3_600_000 } as const;

/**
 * When the next request may leave. Pure: it sets no timer and reads no clock; times are monotonic milliseconds.
 *
 * Three rules hold at once. Requests leave evenly, at the rate of the law. No window of the told limit ever holds more
 * than the limit at the service, wherever in its transit the service counts a request: one on its way counts until a
 * window after its answer. And after a refusal nothing leaves until the hold is over; one without `Retry-After` may be
 * a short limit or the day's, so a single request goes first then, and its answer tells.
 */
export class Pace {
  readonly #limit: RateLimit;
  readonly #law: RateLaw;
  #next: number;
  #holdUntil: number;
  /** When the service was first, and last, found to take nothing any more, and what the pace was until then. */
  #refusing: { readonly since: number; latest: number; readonly perSecondBefore: number } | undefined;
  #probe: Departure | 'due' | undefined;
  /** Departures in order of leaving; those at the front that have left the window are let go of in bulk. */
  #departures: Departure[] = [];
  #first = 0;

  constructor(limit: RateLimit, law: RateLaw, now: number) {
    this.#limit = limit;
    this.#law = law;
    this.#next = now;
    this.#holdUntil = now;
  }

  /** Requests per second that the pace allows, not counting a hold. */
  perSecond(now: number): number {
    return Math.min(this.#law.rate(now), this.#limit.requests / this.#limit.windowMs) * 1000;
  }

  /** The same, as of the last time that the service took requests: while it takes none, nobody knows what it allows. */
  provenPerSecond(now: number): number {
    return this.#refusing?.perSecondBefore ?? this.perSecond(now);
  }

  /** Until when everything is held after a refusal; in the past when nothing is. */
  get holdUntil(): number {
    return this.#holdUntil;
  }

  /** The first moment at which the next request may leave; infinite while the answer to a probe is awaited. */
  earliest(now: number): number {
    if (typeof this.#probe === 'object') return Number.POSITIVE_INFINITY;
    return Math.max(now, this.#next, this.#holdUntil, this.#windowFreeAt(now));
  }

  /** A request leaves. */
  started(now: number): Departure {
    this.#next = Math.max(this.#next, now - SLACK_MS) + 1 / this.#law.rate(now);
    const departure: Departure = { startedAt: now, endedAt: undefined };
    this.#departures.push(departure);
    if (this.#probe === 'due') this.#probe = departure;
    return departure;
  }

  /** Its answer is there, or it was given up. */
  ended(departure: Departure, now: number, verdict: Verdict): void {
    departure.endedAt = now;
    if (this.#probe === departure) this.#probe = undefined;
    if (verdict.state === 'refused') this.#refuse(departure, now, verdict.retryAfterMs);
    if (verdict.state !== 'taken') return;
    this.#law.accepted(now);
    if (this.#refusing === undefined || departure.startedAt < this.#refusing.latest) return;
    this.#refusing = undefined;
    this.#law.resumed();
  }

  #refuse(departure: Departure, now: number, retryAfterMs: number | undefined): void {
    // Requests that were on their way together are refused together: that is one refusal.
    const together = this.#refusing !== undefined && departure.startedAt < this.#refusing.latest;
    this.#refusing ??= { since: now, latest: now, perSecondBefore: this.perSecond(now) };
    if (retryAfterMs === undefined) this.#probe = 'due';
    if (together && retryAfterMs === undefined) return;
    const untoldMs = Math.max(UNTOLD_HOLD.shortestMs, (now - this.#refusing.since) * UNTOLD_HOLD.part);
    this.#holdUntil = Math.max(this.#holdUntil, now + (retryAfterMs ?? Math.min(untoldMs, UNTOLD_HOLD.longestMs)));
    if (!together) this.#refusing.latest = now;
    this.#law.refused(now, this.#holdUntil);
  }

  #windowFreeAt(now: number): number {
    const { requests, windowMs } = this.#limit;
    while (this.#first < this.#departures.length && leavesWindowAt(this.#departures[this.#first], windowMs) <= now) {
      this.#first += 1;
    }
    if (this.#first > 1_000 && this.#first * 2 > this.#departures.length) {
      this.#departures = this.#departures.slice(this.#first);
      this.#first = 0;
    }
    const blocking = this.#departures.length - this.#first - requests;
    return blocking < 0 ? now : leavesWindowAt(this.#departures[this.#first + blocking], windowMs);
  }
}

function leavesWindowAt(departure: Departure | undefined, windowMs: number): number {
  if (departure === undefined) return 0;
  const latest = departure.startedAt + LONGEST_TRANSIT_MS;
  return Math.min(departure.endedAt ?? latest, latest) + windowMs;
}
