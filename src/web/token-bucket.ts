import type { Clock } from '../runtime/clock.ts';

/** Admits `burst` requests at once, then one more each interval. */
export interface ClientRateLimit {
  readonly intervalMs: number;
  readonly burst: number;
}

/** Admits requests within a limit. The bucket is full at first, and gains a token each interval, up to the burst. */
export class TokenBucket {
  readonly #limit: ClientRateLimit;
  readonly #clock: Clock;
  #tokens: number;
  /** When `#tokens` was computed. */
  #countedAt: number;

  constructor(limit: ClientRateLimit, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
    this.#tokens = limit.burst;
    this.#countedAt = clock.monotonic();
  }

  /** Takes a token; returns false if there is none. */
  take(): boolean {
    const now = this.#clock.monotonic();
    const { intervalMs, burst } = this.#limit;
    const tokens = Math.min(burst, this.#tokens + (now - this.#countedAt) / intervalMs);
    if (tokens < 1) return false;
    this.#tokens = tokens - 1;
    this.#countedAt = now;
    return true;
  }
}

/** The units of Go, in milliseconds; there are two characters for micro, in Latin-1 and in the Greek alphabet. */
const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  '\u00b5s': 1e-3,
  '\u03bcs': 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const PART = String.raw`(\d+(?:\.\d*)?|\.\d+)(${Object.keys(UNITS).join('|')})`;

/** A duration as Go writes it (`1m30s`, `1.5h`): units in any order; zero needs none. */
export const GO_DURATION = new RegExp(`^(?:0|(?:${PART})+)$`);

/** Returns the milliseconds of a text that matches {@link GO_DURATION}. */
export function goDurationMs(text: string): number {
  const parts = text.matchAll(new RegExp(PART, 'g'));
  return [...parts].reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNITS[unit] ?? 0), 0);
}
