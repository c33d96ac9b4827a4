import type { Clock } from '../runtime/clock.ts';
import { meaningOf } from '../runtime/failures.ts';
import { exponentialDelayMs, type Random } from '../runtime/random.ts';

const FIRST_DELAY_MS = 500;

/** Returns how many milliseconds to wait after the `attempts`-th failure in a row; undefined if the request is not retried. */
export function retryDelayMs(error: unknown, attempts: number, random: Random): number | undefined {
  if (attempts > (meaningOf(error).repeats ?? 0)) return undefined;
  return exponentialDelayMs({ firstMs: FIRST_DELAY_MS }, attempts, random);
}

export interface RetryDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly budget?: RetryBudget;
  /** The name of the request: if it failed last time, it is not retried, so that a dead appliance gets no more requests. */
  readonly request?: string;
}

/** How many retries are allowed at the start and at most, and how many each success adds. */
const RETRIES = { max: 20, perSuccess: 0.1 } as const;

/** So many failing requests are remembered. Beyond that all are forgotten, and each may be retried once more. */
const MAX_FAILING = 50_000;

/** Limits the retries of a service to one for ten successes, and to requests that succeeded last time. */
export class RetryBudget {
  #remaining: number = RETRIES.max;
  readonly #failing = new Set<string>();

  recordSuccess(request = ''): void {
    this.#failing.delete(request);
    this.#remaining = Math.min(RETRIES.max, this.#remaining + RETRIES.perSuccess);
  }

  recordFailure(request: string): void {
    if (this.#failing.size >= MAX_FAILING) this.#failing.clear();
    this.#failing.add(request);
  }

  tryRetry(request = ''): boolean {
    if (this.#remaining < 1 || this.#failing.has(request)) return false;
    this.#remaining -= 1;
    return true;
  }
}

/** Rejects with the last error. `wasThrottled`: the previous attempt returned 429. */
export async function withRetries<Result>(
  attempt: (wasThrottled: boolean) => Promise<Result>,
  { clock, random, budget, request }: RetryDependencies,
  signal: AbortSignal,
): Promise<Result> {
  let wasThrottled = false;
  for (let attempts = 1; ; attempts += 1) {
    try {
      const result = await attempt(wasThrottled);
      budget?.recordSuccess(request);
      return result;
    } catch (error) {
      const delayMs = signal.aborted ? undefined : retryDelayMs(error, attempts, random);
      wasThrottled = meaningOf(error).action === 'wait';
      // A request that returned 429 needs no retry of the budget: the request queue keeps it within the limits.
      if (delayMs === undefined || (!wasThrottled && budget?.tryRetry(request) === false)) {
        if (request !== undefined) budget?.recordFailure(request);
        throw error;
      }
      await clock.sleep(delayMs, signal);
    }
  }
}
