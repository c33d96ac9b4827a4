/** At most so many requests in any window of so many milliseconds. */
export interface RateLimit {
  readonly requests: number;
  readonly windowMs: number;
}

/** How far a late timer may be caught up with, in milliseconds: without it every delay would lower the pace for good. */
const SLACK_MS = 100;

/** How long after it was sent a request that is still open may yet be counted by the service, in milliseconds. */
const LONGEST_TRANSIT_MS = 2_000;

const DECREASE = 0.7;
/** The share of the ceiling that the pace wins back in a second without a refusal. */
const INCREASE_PER_SECOND = 0.01;
/** The pace never falls below this share of the ceiling: at no pace at all nothing would ever be learnt. */
const FLOOR_SHARE = 0.01;

/** A request on its way, for {@link Pace.ended}. */
export interface Departure {
  readonly startedAt: number;
  endedAt: number | undefined;
}

/**
 * When the next request may leave. Pure: it sets no timer and reads no clock; times are monotonic milliseconds.
 *
 * Two rules hold at once. Requests leave evenly, at the pace of the moment. And no window of the told limit ever holds
 * more than the limit at the service, wherever in its transit the service counts a request: one on its way counts until
 * a window after its answer.
 *
 * The pace falls by the factor 0.7 on a refusal, once for all requests that were on their way together, and wins back
 * a hundredth of the ceiling each second.
 */
export class Pace {
  readonly #limit: RateLimit;
  readonly #ceiling: number;
  #perMs: number;
  #next: number;
  #holdUntil: number;
  #loweredAt = Number.NEGATIVE_INFINITY;
  #raisedAt: number;
  /** Departures in order of leaving, of which those at the front have left the window. */
  #departures: Departure[] = [];

  constructor(limit: RateLimit, now: number) {
    this.#limit = limit;
    this.#ceiling = limit.requests / limit.windowMs;
    this.#perMs = this.#ceiling;
    this.#next = now;
    this.#holdUntil = now;
    this.#raisedAt = now;
  }

  /** Requests per second that the pace allows, not counting a hold. */
  perSecond(now: number): number {
    this.#raise(now);
    return this.#perMs * 1000;
  }

  /** Until when everything is held after a refusal; in the past when nothing is. */
  get holdUntil(): number {
    return this.#holdUntil;
  }

  /** The first moment at which the next request may leave. */
  earliest(now: number): number {
    return Math.max(now, this.#next, this.#holdUntil, this.#windowFreeAt(now));
  }

  /** A request leaves. */
  started(now: number): Departure {
    this.#raise(now);
    this.#next = Math.max(this.#next, now - SLACK_MS) + 1 / this.#perMs;
    const departure: Departure = { startedAt: now, endedAt: undefined };
    this.#departures.push(departure);
    return departure;
  }

  /** Its answer is there, or it was given up. */
  ended(departure: Departure, now: number): void {
    departure.endedAt = now;
  }

  /** The service refused it with 429. Everything is held for `holdMs`. */
  refused(departure: Departure, now: number, holdMs: number): void {
    this.#holdUntil = Math.max(this.#holdUntil, now + holdMs);
    if (departure.startedAt < this.#loweredAt) return;
    this.#raise(now);
    this.#perMs = Math.max(this.#ceiling * FLOOR_SHARE, this.#perMs * DECREASE);
    this.#loweredAt = now;
    this.#raisedAt = this.#holdUntil;
  }

  #raise(now: number): void {
    const elapsed = now - this.#raisedAt;
    if (elapsed <= 0) return;
    this.#perMs = Math.min(this.#ceiling, this.#perMs + this.#ceiling * INCREASE_PER_SECOND * (elapsed / 1000));
    this.#raisedAt = now;
  }

  #windowFreeAt(now: number): number {
    const counted = this.#departures;
    let gone = 0;
    while (gone < counted.length && leavesWindowAt(counted[gone], this.#limit.windowMs) <= now) gone += 1;
    if (gone > 0) counted.splice(0, gone);
    const blocking = counted[counted.length - this.#limit.requests];
    return blocking === undefined ? now : leavesWindowAt(blocking, this.#limit.windowMs);
  }
}

function leavesWindowAt(departure: Departure | undefined, windowMs: number): number {
  if (departure === undefined) return 0;
  const latest = departure.startedAt + LONGEST_TRANSIT_MS;
  return Math.min(departure.endedAt ?? latest, latest) + windowMs;
}
