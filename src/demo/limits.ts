import { type DemoResponse, errorResponse } from './exchange.ts';
import { DAY_MS } from './values.ts';

/** The limits of an account. */
export interface AccountLimits {
  /** The most requests in any window of this length. */
  readonly burst: { readonly requests: number; readonly windowMs: number };
  /** Requests a day, in UTC. */
  readonly daily: number;
  /** How a 429 of the burst limit says when to come back. A 429 of the daily limit never says it. */
  readonly retryAfter: 'seconds' | 'date' | 'none';
}

/** Counts the requests to the portal. Rejected requests do not count. */
export class RequestLimits {
  /** When the accepted requests of the last window arrived, in monotonic milliseconds. */
  readonly #accepted: number[] = [];
  #day = 0;
  #acceptedToday = 0;

  /** Returns the response with 429 if one more request would exceed a limit. */
  rejection({ burst, daily, retryAfter }: AccountLimits, now: number, monotonic: number): DemoResponse | undefined {
    const day = Math.floor(now / DAY_MS);
    if (day !== this.#day) this.#acceptedToday = 0;
    this.#day = day;
    if (this.#acceptedToday >= daily) return errorResponse('portal', 429);

    while ((this.#accepted[0] ?? monotonic) <= monotonic - burst.windowMs) this.#accepted.shift();
    if (this.#accepted.length >= burst.requests) {
      const waitMs = (this.#accepted[0] ?? monotonic) + burst.windowMs - monotonic;
      return errorResponse('portal', 429, undefined, retryAfterHeader(retryAfter, waitMs, now));
    }
    this.#accepted.push(monotonic);
    this.#acceptedToday += 1;
    return undefined;
  }
}

function retryAfterHeader(form: AccountLimits['retryAfter'], waitMs: number, now: number): Record<string, string> {
  if (form === 'none') return {};
  if (form === 'seconds') return { 'retry-after': String(Math.ceil(waitMs / 1000)) };
  return { 'retry-after': new Date(Math.ceil((now + waitMs) / 1000) * 1000).toUTCString() };
}
