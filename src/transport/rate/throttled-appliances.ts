/** How long an appliance is held back after a 429 without `Retry-After`, in milliseconds. */
const WAIT_WITHOUT_RETRY_AFTER = 60_000;

/** Appliances that alone are answered 429, twice in a row while others were accepted. Pure; monotonic milliseconds. */
export class ThrottledAppliances {
  /** Answered 429 once, and whether another was accepted that was sent since. */
  readonly #throttled = new Map<string, { readonly at: number; areOthersTaken: boolean }>();
  readonly #heldUntil = new Map<string, number>();

  remainingWaitMs(subject: string | undefined, now: number): number | undefined {
    const until = subject === undefined ? undefined : this.#heldUntil.get(subject);
    return until !== undefined && until > now ? until - now : undefined;
  }

  taken(subject: string | undefined, startedAt: number): void {
    if (subject === undefined) return;
    this.#heldUntil.delete(subject);
    this.#throttled.delete(subject);
    for (const one of this.#throttled.values()) one.areOthersTaken ||= startedAt >= one.at;
  }

  /** Whether it alone is answered 429; else everything is to be held. */
  recordThrottle(
    subject: string | undefined,
    startedAt: number,
    now: number,
    retryAfterMs = WAIT_WITHOUT_RETRY_AFTER,
  ): boolean {
    if (subject === undefined) return false;
    const before = this.#throttled.get(subject);
    if (before === undefined) this.#throttled.set(subject, { at: now, areOthersTaken: false });
    const isLone = before !== undefined && startedAt >= before.at && before.areOthersTaken;
    if (isLone || this.#heldUntil.has(subject)) this.#heldUntil.set(subject, now + retryAfterMs);
    return this.#heldUntil.has(subject);
  }
}
