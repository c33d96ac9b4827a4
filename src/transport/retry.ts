import type { Clock } from '../runtime/clock.ts';
import { policyForError, type RequestPurpose } from '../runtime/error-policy.ts';
import { exponentialDelayMs, type Random } from '../runtime/random.ts';

const FIRST_DELAY_MS = 500;

/** In milliseconds, after the `attempts`-th failure in a row; undefined for no retry. */
export function retryDelayMs(
  error: unknown,
  attempts: number,
  kind: RequestPurpose,
  random: Random,
): number | undefined {
  if (attempts > (policyForError(error, kind).retries ?? 0)) return undefined;
  return exponentialDelayMs({ firstMs: FIRST_DELAY_MS }, attempts, random);
}

export interface RetryDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly allowance?: RetryBudget;
  /** The name of the request: not retried if it failed last time, so that what is dead is asked no more often. */
  readonly request?: string;
}

/** How many retries are allowed before any success, and for each success. */
const RETRIES = { most: 20, perSuccess: 0.1 } as const;

/** How many failing requests are remembered; above it all are forgotten, and each may be retried once more. */
const MAX_FAILING = 50_000;

/** Limits a service's retries to one for ten successes, and to requests that succeeded last time. */
export class RetryBudget {
  #left: number = RETRIES.most;
  readonly #failing = new Set<string>();

  recordSuccess(request = ''): void {
    this.#failing.delete(request);
    this.#left = Math.min(RETRIES.most, this.#left + RETRIES.perSuccess);
  }

  failed(request: string): void {
    if (this.#failing.size >= MAX_FAILING) this.#failing.clear();
    this.#failing.add(request);
  }

  tryRetry(request = ''): boolean {
    if (this.#left < 1 || this.#failing.has(request)) return false;
    this.#left -= 1;
    return true;
  }
}

/** Rejects with the last error. `wasThrottled`: the attempt before was answered 429. */
export async function withRetries<Result>(
  attempt: (wasThrottled: boolean) => Promise<Result>,
  kind: RequestPurpose,
  { clock, random, allowance, request }: RetryDependencies,
  signal: AbortSignal,
): Promise<Result> {
  let wasThrottled = false;
  for (let attempts = 1; ; attempts += 1) {
    try {
      const result = await attempt(wasThrottled);
      allowance?.recordSuccess(request);
      return result;
    } catch (error) {
      const delayMs = signal.aborted ? undefined : retryDelayMs(error, attempts, kind, random);
      wasThrottled = policyForError(error, kind).action === 'wait';
      // The pacer has waited meanwhile and keeps them within the limits: they need no allowance.
      if (delayMs === undefined || (!wasThrottled && allowance?.tryRetry(request) === false)) {
        if (request !== undefined) allowance?.failed(request);
        throw error;
      }
      await clock.sleep(delayMs, signal);
    }
  }
}
