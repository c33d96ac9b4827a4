import { RequestError } from '../../../runtime/errors.ts';

/** The shortest period that the portal accepts, in milliseconds (upstream-api.md 4.1). */
export const SHORTEST_PERIOD_MS = 360_000;

/**
 * The period of a series request: halved after an answer that is too large or too slow (408, 413), and extended again
 * after successes.
 */
export class Lookback {
  readonly #usualMs: number;
  readonly #shortened = new Map<string, number>();

  constructor(usualMs: number) {
    this.#usualMs = usualMs;
  }

  /**
   * Sends a request for a period of at most `wantedMs`, and again for half of it where that is too much for one answer.
   */
  async ask<Answer>(task: string, wantedMs: number, send: (periodMs: number) => Promise<Answer>): Promise<Answer> {
    for (;;) {
      const periodMs = Math.min(this.of(task), wantedMs);
      try {
        const answer = await send(periodMs);
        this.recover(task);
        return answer;
      } catch (error) {
        if (!(isTooSlow(error) || isTooLarge(error)) || !this.shorten(task, periodMs)) throw error;
      }
    }
  }

  of(task: string): number {
    return this.#shortened.get(task) ?? this.#usualMs;
  }

  /** Halves it, or `now` if that is shorter; false if it is already the shortest. */
  shorten(task: string, now = this.of(task)): boolean {
    if (now <= SHORTEST_PERIOD_MS) return false;
    this.#shortened.set(task, Math.max(SHORTEST_PERIOD_MS, now / 2));
    return true;
  }

  /** After a success: the next request may cover twice as much, up to the configured period. */
  recover(task: string): void {
    const now = this.#shortened.get(task);
    if (now === undefined) return;
    if (now * 2 >= this.#usualMs) this.#shortened.delete(task);
    else this.#shortened.set(task, now * 2);
  }
}

/** An ISO 8601 duration ending now, as `PT15M`. */
export function isoPeriod(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds % 60 === 0 ? `PT${seconds / 60}M` : `PT${seconds}S`;
}

/** The service did not find all of it in time. */
export function isTooSlow(error: unknown): boolean {
  return error instanceof RequestError && error.status === 408;
}

/** The service or the exporter finds the answer too large. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof RequestError && (error.status === 413 || error.fault === 'oversize');
}
