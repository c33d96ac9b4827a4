const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** The burst allowance, as a share of the daily limit. */
const BURST_SHARE = 0.01;

/** The requests that were sent in one minute from `since` on, in monotonic milliseconds. */
interface SentMinute {
  readonly since: number;
  requests: number;
}

/**
 * Limits the requests in any 24 hours by spreading them evenly (GCRA): one hundredth of the limit is the burst allowance,
 * which builds up while nothing is sent, and the remaining requests are spread over the day. Together they are the limit.
 *
 * It starts with an empty allowance, as if the previous process had just sent a request: restarts cannot exceed the limit,
 * even if nothing is saved. What is saved only counts the requests that remain. Times are monotonic milliseconds. An
 * undefined limit allows everything.
 */
export class DailyQuota {
  readonly #limit: number | undefined;
  readonly #burstAllowance: number;
  readonly #msPerRequest: number;
  /** The theoretical arrival time of GCRA: the next request may be sent then. It lies in the past by the unused allowance. */
  #theoreticalArrival: number;
  /** Oldest first. */
  #sent: SentMinute[] = [];

  constructor(limit: number | undefined, now: number) {
    this.#limit = limit;
    this.#burstAllowance = limit === undefined ? 0 : Math.max(1, Math.floor(limit * BURST_SHARE));
    this.#msPerRequest = limit === undefined ? 0 : DAY_MS / Math.max(1, limit - this.#burstAllowance);
    this.#theoreticalArrival = now + this.#msPerRequest;
  }

  earliest(now: number): number {
    return this.#limit === undefined ? now : Math.max(now, this.#theoreticalArrival);
  }

  recordSent(now: number): void {
    if (this.#limit === undefined) return;
    const fullAllowance = now - (this.#burstAllowance - 1) * this.#msPerRequest;
    this.#theoreticalArrival = Math.max(this.#theoreticalArrival, fullAllowance) + this.#msPerRequest;
    while (this.#sent[0] !== undefined && now - this.#sent[0].since >= DAY_MS) this.#sent.shift();
    const latest = this.#sent.at(-1);
    if (latest !== undefined && now - latest.since < MINUTE_MS) latest.requests += 1;
    else this.#sent.push({ since: now, requests: 1 });
  }

  get perSecond(): number {
    return this.#limit === undefined ? Number.POSITIVE_INFINITY : 1000 / this.#msPerRequest;
  }

  /** The requests that remain of the last 24 hours, to a minute; undefined without a limit. */
  remaining(now: number): number | undefined {
    if (this.#limit === undefined) return undefined;
    const recent = this.#sent.filter(({ since }) => now - since < DAY_MS);
    const spent = recent.reduce((sum, { requests }) => sum + requests, 0);
    return Math.max(0, this.#limit - spent);
  }

  /** The sent requests as pairs of a minute and their number. */
  save(): unknown {
    return this.#sent.map(({ since, requests }) => [since, requests]);
  }

  /** Must be called before the first request. `shiftMs` turns a monotonic time of the process that saved into one of this process. */
  restore(saved: unknown, shiftMs: number): void {
    if (!Array.isArray(saved) || !saved.every(isSavedMinute))
      throw new Error('restoring the daily quota: expected pairs of a time and a number of requests');
    this.#sent = saved.map(([since, requests]) => ({ since: since + shiftMs, requests }));
  }
}

function isSavedMinute(saved: unknown): saved is readonly [since: number, requests: number] {
  return Array.isArray(saved) && saved.length === 2 && saved.every((value) => Number.isFinite(value));
}
