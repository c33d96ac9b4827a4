const WINDOW_MS = 600_000;

const MIN_REJECTED = 3;

/** Throttled above this share of requests that return 429; the search for the limit alone causes up to 0.014. */
const REJECTED_SHARE = 0.05;

/** A request is slow if it was sent below this share of the configured rate. */
const SLOW_RATE = 0.5;

/** Throttled above this share of slow requests. */
const SLOW_SHARE = 0.5;

/** The throttling has ended once both shares are below this part of the limits above. */
const END_PART = 0.5;

/** Detects that a service allows clearly less than is configured: other tools use its limit, or its limit is lower. */
export class ThrottlingDetector {
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
