/**
 * How long a key that is throttled alone waits after a 429 without `Retry-After`, and how long its other requests wait when
 * one has been admitted, in milliseconds.
 */
const KEY_WAIT_MS = 60_000;

/** How long after its last 429 a key is forgotten, in milliseconds, because its appliance may have been removed. */
const FORGET_AFTER_MS = 86_400_000;

/** A key whose last request returned 429. */
interface ThrottledKey {
  readonly rejectedAt: number;
  /** How many of its 429s in a row came although the service had accepted other keys since the one before. */
  readonly rejectionsAmongSuccesses: number;
  /** Whether a request about another key was accepted that was sent after the last 429. */
  isOtherAccepted: boolean;
  /** Whether the service has returned 429 for anything else meanwhile. */
  isOtherRejected: boolean;
  /** Undefined until it is known that the service returns 429 for this key alone. */
  waitUntil: number | undefined;
}

/**
 * Finds keys, such as serials of appliances, for which the service returns 429 while it accepts requests about others.
 * Only requests about these keys wait. Times are monotonic milliseconds.
 *
 * A key is throttled alone if it gets a second 429 although requests about others were accepted between. If other keys are
 * rejected too, the second 429 may be a coincidence, and a third one is needed.
 */
export class ThrottledKeys {
  /** In the order of the last 429. */
  readonly #keys = new Map<string, ThrottledKey>();

  get size(): number {
    return this.#keys.size;
  }

  /**
   * Returns until when a request about the key has to wait; undefined if it may be sent now. Of a key that is throttled alone,
   * one request may be sent after each wait, and the next wait begins with it.
   */
  admit(key: string | undefined, now: number): number | undefined {
    const throttled = key === undefined ? undefined : this.#keys.get(key);
    if (throttled?.waitUntil === undefined) return undefined;
    if (now < throttled.waitUntil) return throttled.waitUntil;
    throttled.waitUntil = now + KEY_WAIT_MS;
    return undefined;
  }

  recordAccepted(key: string | undefined, startedAt: number): void {
    // Requests without a key are about the account, which may have a limit of its own.
    if (key === undefined) return;
    this.#keys.delete(key);
    for (const throttled of this.#keys.values()) throttled.isOtherAccepted ||= startedAt >= throttled.rejectedAt;
  }

  /** Returns whether the service returns 429 for this key alone; if not, every request has to wait. */
  recordThrottled(key: string | undefined, startedAt: number, now: number, retryAfterMs = KEY_WAIT_MS): boolean {
    const before = key === undefined ? undefined : this.#keys.get(key);
    const wasAlone = before?.waitUntil !== undefined;
    // Requests that were on their way together are rejected together.
    const isNew = before === undefined || startedAt >= before.rejectedAt;
    const { rejectionsAmongSuccesses = 0, isOtherAccepted = false, isOtherRejected = false } = before ?? {};
    const count = rejectionsAmongSuccesses + (isNew && isOtherAccepted ? 1 : 0);
    const isAlone = wasAlone || count >= (isOtherRejected ? 2 : 1);
    if (!isAlone) this.#markOthersRejected(key);
    if (key === undefined) return false;
    this.#keys.delete(key);
    this.#keys.set(key, {
      rejectedAt: isNew ? now : (before?.rejectedAt ?? now),
      rejectionsAmongSuccesses: count,
      isOtherAccepted: isNew ? false : isOtherAccepted,
      isOtherRejected,
      waitUntil: isAlone ? now + retryAfterMs : undefined,
    });
    this.#forget(now);
    return isAlone;
  }

  #markOthersRejected(key: string | undefined): void {
    for (const [other, throttled] of this.#keys) if (other !== key) throttled.isOtherRejected = true;
  }

  #forget(now: number): void {
    for (const [key, { rejectedAt }] of this.#keys) {
      if (now - rejectedAt < FORGET_AFTER_MS) break;
      this.#keys.delete(key);
    }
  }
}

/** How often the shares below are evaluated, in milliseconds. */
const WINDOW_MS = 600_000;

/** With fewer 429s between two evaluations the account is not throttled, whatever the shares are. */
const MIN_REJECTED = 3;

/**
 * The account is throttled if a larger share of the requests returns 429. Without other tools the share is 0.014 at most, which
 * the search for the limit causes.
 */
const REJECTED_SHARE = 0.05;

/** A request is slow if it was sent below this share of the configured rate. */
const SLOW_RATE = 0.5;

/** The account is throttled if more than this share of requests are slow. */
const SLOW_SHARE = 0.5;

/** The throttling has ended once both shares are below this part of the limits above. */
const END_PART = 0.5;

/** Detects that a service allows clearly less than is configured: other tools use its limit, or its limit is lower. */
export class AccountThrottling {
  #window = { since: Number.NEGATIVE_INFINITY, accepted: 0, rejected: 0, slow: 0 };
  #isThrottled = false;

  get isThrottled(): boolean {
    return this.#isThrottled;
  }

  /** `rateShare` is the rate at which the request was sent, as a share of the configured one; `now` is monotonic milliseconds. */
  recordResponse(isRejected: boolean, rateShare: number, now: number): void {
    const { since } = this.#window;
    if (now - since >= WINDOW_MS) {
      if (since !== Number.NEGATIVE_INFINITY) this.#evaluate();
      this.#window = { since: now, accepted: 0, rejected: 0, slow: 0 };
    }
    if (isRejected) this.#window.rejected += 1;
    else this.#window.accepted += 1;
    if (rateShare < SLOW_RATE) this.#window.slow += 1;
  }

  #evaluate(): void {
    const { accepted, rejected, slow } = this.#window;
    // While nothing is accepted, too few requests are sent to see whether the throttling has ended.
    if (this.#isThrottled && accepted === 0) return;
    const part = this.#isThrottled ? END_PART : 1;
    const total = accepted + rejected;
    this.#isThrottled =
      rejected >= MIN_REJECTED && (rejected / total > part * REJECTED_SHARE || slow / total > part * SLOW_SHARE);
  }
}
