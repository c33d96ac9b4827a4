import type { Clock } from '../runtime/clock.ts';
import { backOffMs, type Random } from '../runtime/random.ts';
import { meaningOfError, type RequestKind } from '../runtime/statuses.ts';
import type { Priority } from './rate/pacer.ts';

const FIRST_DELAY_MS = 500;

/** In milliseconds, after the `attempts`-th failure in a row; undefined for no retry. */
export function retryDelayMs(error: unknown, attempts: number, kind: RequestKind, random: Random): number | undefined {
  if (attempts > (meaningOfError(error, kind).retries ?? 0)) return undefined;
  return backOffMs({ firstMs: FIRST_DELAY_MS }, attempts, random);
}

export interface RetryParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly allowance?: RetryAllowance;
}

/** How many retries are allowed before any success, and for each success. */
const RETRIES = { most: 20, perSuccess: 0.1 } as const;

/** Limits a service's retries to one for ten successes: an outage costs no more requests than normal operation. */
export class RetryAllowance {
  #left: number = RETRIES.most;

  earn(): void {
    this.#left = Math.min(RETRIES.most, this.#left + RETRIES.perSuccess);
  }

  spend(): boolean {
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}

/** Rejects with the last error. `priority`: after a 429 an attempt goes ahead of waiting requests, else behind them. */
export async function withRetries<Result>(
  attempt: (priority?: Priority) => Promise<Result>,
  kind: RequestKind,
  { clock, random, allowance }: RetryParts,
  signal: AbortSignal,
): Promise<Result> {
  let priority: Priority | undefined;
  for (let attempts = 1; ; attempts += 1) {
    try {
      const result = await attempt(priority);
      allowance?.earn();
      return result;
    } catch (error) {
      const delayMs = signal.aborted ? undefined : retryDelayMs(error, attempts, kind, random);
      const wasHeld = meaningOfError(error, kind).does === 'hold';
      // The pacer has waited meanwhile and keeps them within the limits: they need no allowance.
      if (delayMs === undefined || (!wasHeld && allowance?.spend() === false)) throw error;
      priority = wasHeld ? 'ahead' : 'again';
      await clock.sleep(delayMs, signal);
    }
  }
}
