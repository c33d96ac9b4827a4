/** How long an appliance is held back after a 429 without `Retry-After`, in milliseconds. */
const WAIT_WITHOUT_RETRY_AFTER = 60_000;

/** An appliance is forgotten so long after its last 429, in milliseconds: it may be gone. */
const FORGET_AFTER_MS = 86_400_000;

interface Throttled {
  /** When it was first answered 429, and when last. */
  readonly since: number;
  readonly lastAt: number;
  /** Whether another was accepted that was sent since. */
  areOthersTaken: boolean;
  /** Undefined until it is known that it alone is answered 429. */
  readonly waitUntil: number | undefined;
}

/** Appliances that alone are answered 429, twice in a row while others were accepted. Pure; monotonic milliseconds. */
export class ThrottledAppliances {
  /** In the order of their last 429. */
  readonly #throttled = new Map<string, Throttled>();

  remainingWaitMs(subject: string | undefined, now: number): number | undefined {
    const until = subject === undefined ? undefined : this.#throttled.get(subject)?.waitUntil;
    return until !== undefined && until > now ? until - now : undefined;
  }

  taken(subject: string | undefined, startedAt: number): void {
    if (subject === undefined) return;
    this.#throttled.delete(subject);
    for (const throttled of this.#throttled.values()) throttled.areOthersTaken ||= startedAt >= throttled.since;
  }

  /** Whether it alone is answered 429; else everything is to be held. */
  recordThrottle(
    subject: string | undefined,
    startedAt: number,
    now: number,
    retryAfterMs = WAIT_WITHOUT_RETRY_AFTER,
  ): boolean {
    if (subject === undefined) return false;
    const { since = now, areOthersTaken = false, waitUntil } = this.#throttled.get(subject) ?? {};
    const isAlone = waitUntil !== undefined || (this.#throttled.has(subject) && startedAt >= since && areOthersTaken);
    this.#throttled.delete(subject);
    this.#throttled.set(subject, {
      since,
      lastAt: now,
      areOthersTaken,
      waitUntil: isAlone ? now + retryAfterMs : undefined,
    });
    for (const [serial, { lastAt }] of this.#throttled) {
      if (now - lastAt < FORGET_AFTER_MS) break;
      this.#throttled.delete(serial);
    }
    return isAlone;
  }

  get size(): number {
    return this.#throttled.size;
  }
}
