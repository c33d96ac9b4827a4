import { RequestError, statusOf } from '../../../runtime/errors.ts';

/** The shortest period that the portal accepts, in milliseconds (upstream-api.md 4.1). */
export const SHORTEST_PERIOD_MS = 360_000;

/**
 * The period of a task's requests: halved after an answer that is too large or too slow (408, 413), and doubled again after
 * each success, up to the wanted one.
 */
export class Lookback {
  readonly #shortened = new Map<string, number>();

  /** Sends a request for a period of at most `wantedMs`, and again while that is too much for one answer. */
  async ask<Answer>(task: string, wantedMs: number, send: (periodMs: number) => Promise<Answer>): Promise<Answer> {
    for (;;) {
      const shortened = this.#shortened.get(task);
      const periodMs = Math.min(shortened ?? wantedMs, wantedMs);
      try {
        const answer = await send(periodMs);
        if (shortened === undefined || shortened * 2 >= wantedMs) this.#shortened.delete(task);
        else this.#shortened.set(task, shortened * 2);
        return answer;
      } catch (error) {
        if (!isTooMuch(error) || periodMs <= SHORTEST_PERIOD_MS) throw error;
        this.#shortened.set(task, Math.max(SHORTEST_PERIOD_MS, periodMs / 2));
      }
    }
  }
}

/** An ISO 8601 duration ending now, as `PT15M`. */
export function isoPeriod(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds % 60 === 0 ? `PT${seconds / 60}M` : `PT${seconds}S`;
}

/** The answer is too large, or the service did not find all of it in time. */
export function isTooMuch(error: unknown): boolean {
  return isTooLarge(error) || statusOf(error) === 408;
}

/** The service or the exporter finds the answer too large. */
export function isTooLarge(error: unknown): boolean {
  return statusOf(error) === 413 || (error instanceof RequestError && error.fault === 'oversize');
}
