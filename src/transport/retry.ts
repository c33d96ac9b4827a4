import type { Clock } from '../runtime/clock.ts';
import { RequestError } from '../runtime/errors.ts';
import type { Random } from '../runtime/random.ts';

/** How often a failure may be tried again at once. */
export interface RetryPolicy {
  /** After a network error, 502, 503 or 504. */
  readonly transient: number;
  /** After a 500. */
  readonly serverError: number;
  /** After a 429: the pacer has waited meanwhile. */
  readonly refused: number;
}

const FIRST_DELAY_MS = 500;
// Not 408: it says that too much was asked for, and the same request would be as slow again.
const TRANSIENT = new Set([502, 503, 504]);

/**
 * How long to wait before trying again, in milliseconds, after the `attempts`-th attempt in a row failed with `error`;
 * undefined when it is not to be tried again. Doubles from half a second, each time between half and the whole of it.
 */
export function retryDelayMs(
  error: unknown,
  attempts: number,
  policy: RetryPolicy,
  random: Random,
): number | undefined {
  if (attempts > allowedRetries(error, policy)) return undefined;
  return FIRST_DELAY_MS * 2 ** (attempts - 1) * (0.5 + random() / 2);
}

function allowedRetries(error: unknown, policy: RetryPolicy): number {
  if (!(error instanceof RequestError)) return 0;
  if (error.fault === 'network') return policy.transient;
  if (error.status === undefined) return 0;
  if (error.status === 429) return policy.refused;
  if (error.status === 500) return policy.serverError;
  return TRANSIENT.has(error.status) ? policy.transient : 0;
}

/** What {@link withRetries} waits with, and what allows it; without an allowance the policy alone does. */
export interface Patience {
  readonly clock: Clock;
  readonly random: Random;
  readonly allowance?: RetryAllowance;
}

/** How many requests may be tried again at most before any succeeded, and for each one that did. */
const RETRIES = { most: 20, perSuccess: 0.1 } as const;

/**
 * How many of a service's requests may be tried again: one for ten that succeeded. So trouble costs no more requests than
 * health does, however many appliances it is about.
 */
export class RetryAllowance {
  #left: number = RETRIES.most;

  /** A request succeeded. */
  earn(): void {
    this.#left = Math.min(RETRIES.most, this.#left + RETRIES.perSuccess);
  }

  /** Whether one more may be tried again; it is counted then. */
  spend(): boolean {
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}

/**
 * Tries until it succeeds or the policy says that it was enough; then rejects with the last error. `attempt` is told
 * whether it is a further one.
 */
export async function withRetries<Result>(
  attempt: (again: boolean) => Promise<Result>,
  policy: RetryPolicy,
  { clock, random, allowance }: Patience,
  signal: AbortSignal,
): Promise<Result> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      const result = await attempt(attempts > 1);
      allowance?.earn();
      return result;
    } catch (error) {
      const delayMs = signal.aborted ? undefined : retryDelayMs(error, attempts, policy, random);
      if (delayMs === undefined || allowance?.spend() === false) throw error;
      await clock.sleep(delayMs, signal);
    }
  }
}
