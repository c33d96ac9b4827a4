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

/** What {@link withRetries} waits with. */
export interface Patience {
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Tries until it succeeds or the policy says that it was enough; then rejects with the last error. `attempt` is told
 * whether it is a further one.
 */
export async function withRetries<Result>(
  attempt: (again: boolean) => Promise<Result>,
  policy: RetryPolicy,
  { clock, random }: Patience,
  signal: AbortSignal,
): Promise<Result> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt(attempts > 1);
    } catch (error) {
      const delayMs = signal.aborted ? undefined : retryDelayMs(error, attempts, policy, random);
      if (delayMs === undefined) throw error;
      await clock.sleep(delayMs, signal);
    }
  }
}
