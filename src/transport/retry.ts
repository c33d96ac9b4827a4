import type { Clock } from '../runtime/clock.ts';
import { RequestError } from '../runtime/errors.ts';
import { backOffMs, type Random } from '../runtime/random.ts';
import type { Attempt } from './rate/pacer.ts';

export interface RetryPolicy {
  /** After a network error, 502, 503 or 504. */
  readonly transient: number;
  /** After a 500. */
  readonly serverError: number;
  /** After a 429: the pacer has waited meanwhile. */
  readonly refused: number;
}

const FIRST_DELAY_MS = 500;
// Not 408: the request asked for too much, and would be as slow again.
const TRANSIENT = new Set([502, 503, 504]);

/** In milliseconds, after the `attempts`-th failure in a row; undefined for no retry. */
export function retryDelayMs(
  error: unknown,
  attempts: number,
  policy: RetryPolicy,
  random: Random,
): number | undefined {
  if (attempts > allowedRetries(error, policy)) return undefined;
  return backOffMs({ firstMs: FIRST_DELAY_MS }, attempts, random);
}

function allowedRetries(error: unknown, policy: RetryPolicy): number {
  if (!(error instanceof RequestError)) return 0;
  if (error.fault === 'network') return policy.transient;
  if (error.status === undefined) return 0;
  if (error.status === 429) return policy.refused;
  if (error.status === 500) return policy.serverError;
  return TRANSIENT.has(error.status) ? policy.transient : 0;
}

export interface RetryParts {
  readonly clock: Clock;
  readonly random: Random;
  /** Without it only the policy limits retries. */
  readonly allowance?: RetryAllowance;
}

/** How many retries are allowed before any success, and for each success. */
const RETRIES = { most: 20, perSuccess: 0.1 } as const;

/**
 * Limits a service's retries to one for ten successes. So an outage costs no more requests than normal operation,
 * however many appliances it affects.
 */
export class RetryAllowance {
  #left: number = RETRIES.most;

  earn(): void {
    this.#left = Math.min(RETRIES.most, this.#left + RETRIES.perSuccess);
  }

  /** Whether one more retry is allowed. */
  spend(): boolean {
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}

/** Rejects with the last error. `turn`: after a 429 an attempt goes ahead of waiting requests, else behind them. */
export async function withRetries<Result>(
  attempt: (turn?: Attempt) => Promise<Result>,
  policy: RetryPolicy,
  { clock, random, allowance }: RetryParts,
  signal: AbortSignal,
): Promise<Result> {
  let turn: Attempt | undefined;
  for (let attempts = 1; ; attempts += 1) {
    try {
      const result = await attempt(turn);
      allowance?.earn();
      return result;
    } catch (error) {
      const delayMs = signal.aborted ? undefined : retryDelayMs(error, attempts, policy, random);
      const isRefused = error instanceof RequestError && error.status === 429;
      // The pacer keeps refused requests within the limits: they need no allowance.
      if (delayMs === undefined || (!isRefused && allowance?.spend() === false)) throw error;
      turn = isRefused ? 'ahead' : 'again';
      await clock.sleep(delayMs, signal);
    }
  }
}
