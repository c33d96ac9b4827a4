/** How long an appliance waits after a 429 without `Retry-After`, in milliseconds. */
const WAIT_WITHOUT_RETRY_AFTER_MS = 60_000;

/** How long after its last 429 an appliance is forgotten, in milliseconds, because it may have been removed. */
const FORGET_AFTER_MS = 86_400_000;

interface Throttled {
  /** The times of its first and its last 429. */
  readonly since: number;
  readonly lastAt: number;
  /** Whether a request to another appliance succeeded that was sent after the first 429. */
  hasOtherSucceeded: boolean;
  /** Undefined until it is known that the service returns 429 for this appliance alone. */
  readonly waitUntil: number | undefined;
}

/**
 * Finds appliances for which the service returns 429 while it accepts requests about others: twice in a row. Times are
 * monotonic milliseconds.
 */
export class ThrottledAppliances {
  /** By serial, in the order of the last 429. */
  readonly #throttled = new Map<string, Throttled>();

  remainingWaitMs(serial: string | undefined, now: number): number | undefined {
    const until = serial === undefined ? undefined : this.#throttled.get(serial)?.waitUntil;
    return until !== undefined && until > now ? until - now : undefined;
  }

  recordAccepted(serial: string | undefined, startedAt: number): void {
    if (serial === undefined) return;
    this.#throttled.delete(serial);
    for (const throttled of this.#throttled.values()) throttled.hasOtherSucceeded ||= startedAt >= throttled.since;
  }

  /** Returns whether the service returns 429 for this appliance alone; if not, every request has to wait. */
  recordThrottle(
    serial: string | undefined,
    startedAt: number,
    now: number,
    retryAfterMs = WAIT_WITHOUT_RETRY_AFTER_MS,
  ): boolean {
    if (serial === undefined) return false;
    const { since = now, hasOtherSucceeded = false, waitUntil } = this.#throttled.get(serial) ?? {};
    const isAlone = waitUntil !== undefined || (this.#throttled.has(serial) && startedAt >= since && hasOtherSucceeded);
    this.#throttled.delete(serial);
    this.#throttled.set(serial, {
      since,
      lastAt: now,
      hasOtherSucceeded,
      waitUntil: isAlone ? now + retryAfterMs : undefined,
    });
    for (const [oldest, { lastAt }] of this.#throttled) {
      if (now - lastAt < FORGET_AFTER_MS) break;
      this.#throttled.delete(oldest);
    }
    return isAlone;
  }

  get size(): number {
    return this.#throttled.size;
  }
}
