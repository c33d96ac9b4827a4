const WINDOW_MS = 600_000;

const FEWEST = 3;

/** The share of requests that are rejected with 429; the search for the limit itself causes up to 0.014. */
const REJECTED_SHARE = 0.05;

/** The share of requests that left at less than half of the configured rate. */
const SLOW_SHARE = 0.5;

/** It is over when both shares are below this part of what it takes to begin. */
const OVER = 0.5;

/** Whether a service allows clearly less than is configured: other tools use the limit, or it is lower. Pure. */
export class ThrottlingDetector {
  #window = { since: Number.NEGATIVE_INFINITY, taken: 0, rejected: 0, slow: 0 };
  #is = false;

  get isThrottled(): boolean {
    return this.#is;
  }

  /** `paceShare`: the rate at which it left, as a share of the configured one. `now`: monotonic milliseconds. */
  answered(isRejected: boolean, paceShare: number, now: number): void {
    const { since } = this.#window;
    if (now - since >= WINDOW_MS) {
      if (since !== Number.NEGATIVE_INFINITY) this.#judge();
      this.#window = { since: now, taken: 0, rejected: 0, slow: 0 };
    }
    if (isRejected) this.#window.rejected += 1;
    else this.#window.taken += 1;
    if (paceShare < 0.5) this.#window.slow += 1;
  }

  #judge(): void {
    const { taken, rejected, slow } = this.#window;
    // While nothing is accepted, long holds leave few requests to be rejected.
    if (this.#is && taken === 0) return;
    const part = this.#is ? OVER : 1;
    const all = taken + rejected;
    this.#is = rejected >= FEWEST && (rejected / all > part * REJECTED_SHARE || slow / all > part * SLOW_SHARE);
  }
}
