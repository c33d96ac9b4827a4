import type { DemoResponse } from './exchange.ts';
import { portalError } from './exchange.ts';
import type { DemoRateLimit, Variations } from './variations.ts';

/** Returns 0 if a request is allowed, or the milliseconds until the next one is. Rejected requests do not count. */
type Gate = (now: number) => number;

const DAY_MS = 86_400_000;

/** The limits shared by all portal operations. */
export class Limits {
  #limit: DemoRateLimit | null = null;
  #gate: Gate = open;
  #day = 0;
  #today = 0;

  /** Returns the response with 429 if a request now would exceed a limit. */
  rejection(variations: Variations, now: number): DemoResponse | undefined {
    const day = Math.floor(now / DAY_MS);
    if (day !== this.#day) this.#today = 0;
    this.#day = day;
    if (variations.dailyLimit !== null && this.#today >= variations.dailyLimit) return tooMany({});

    if (variations.rateLimit !== this.#limit) this.#gate = gateOf(variations.rateLimit);
    this.#limit = variations.rateLimit;
    const waitMs = this.#gate(now);
    if (waitMs > 0) return tooMany(retryAfter(variations.retryAfter, waitMs, now));
    this.#today += 1;
    return undefined;
  }
}

function tooMany(headers: Readonly<Record<string, string>>): DemoResponse {
  return portalError(429, 'Too many requests', headers);
}

function retryAfter(form: Variations['retryAfter'], waitMs: number, now: number): Readonly<Record<string, string>> {
  if (form === 'none') return {};
  if (form === 'seconds') return { 'retry-after': String(Math.ceil(waitMs / 1000)) };
  return { 'retry-after': new Date(Math.ceil((now + waitMs) / 1000) * 1000).toUTCString() };
}

function gateOf(limit: DemoRateLimit | null): Gate {
  if (limit === null) return open;
  return limit.kind === 'fixed-window'
    ? fixedWindow(limit.requests, limit.windowMs)
    : slidingWindow(limit.requests, limit.windowMs);
}

function open(): number {
  return 0;
}

function fixedWindow(requests: number, windowMs: number): Gate {
  let window = Number.NaN;
  let seen = 0;
  return (now) => {
    const current = Math.floor(now / windowMs);
    if (current !== window) seen = 0;
    window = current;
    if (seen >= requests) return (current + 1) * windowMs - now;
    seen += 1;
    return 0;
  };
}

function slidingWindow(requests: number, windowMs: number): Gate {
  const seen: number[] = [];
  return (now) => {
    while (seen[0] !== undefined && seen[0] <= now - windowMs) seen.shift();
    if (seen.length >= requests) return (seen[0] ?? now) + windowMs - now;
    seen.push(now);
    return 0;
  };
}
