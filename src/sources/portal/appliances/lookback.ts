import { meaningOfError } from '../../../runtime/statuses.ts';

/** The shortest period that the portal accepts, in milliseconds. */
export const SHORTEST_PERIOD_MS = 360_000;

/** How much the second period of a task overlaps the first, which ends by the clock of the service and not by ours. */
const OVERLAP_MS = 60_000;

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

  /**
   * Sends requests that together cover the last `wantedMs`, the newest period first; `send` gets the length of a period
   * and how long ago it ended. False if an older period cannot be had: what is before it was not asked for.
   */
  async cover(
    task: string,
    wantedMs: number,
    send: (periodMs: number, agoMs: number) => Promise<void>,
  ): Promise<boolean> {
    let coveredMs = 0;
    while (coveredMs < wantedMs) {
      const agoMs = coveredMs;
      const next = async (periodMs: number) => {
        await send(periodMs, agoMs);
        coveredMs = agoMs + periodMs;
      };
      try {
        await this.ask(task, Math.max(SHORTEST_PERIOD_MS, wantedMs - agoMs), next);
      } catch (error) {
        if (agoMs === 0 || !(isTooMuch(error) || meaningOfError(error, 'series').reason === 'rejected')) throw error;
        return false;
      }
      if (agoMs === 0 && coveredMs < wantedMs) coveredMs -= OVERLAP_MS;
    }
    return true;
  }
}

/** An ISO 8601 duration ending now, as `PT15M`. */
export function isoPeriod(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds % 60 === 0 ? `PT${seconds / 60}M` : `PT${seconds}S`;
}

/** An ISO 8601 interval of moments in milliseconds since the Unix epoch. */
export function isoInterval(from: number, to: number): string {
  return `${new Date(from).toISOString()}/${new Date(to).toISOString()}`;
}

/** The answer is too large, or the service did not find all of it in time. */
export function isTooMuch(error: unknown): boolean {
  return meaningOfError(error, 'series').does === 'shrink';
}

/** The service or the exporter finds the answer too large. */
export function isTooLarge(error: unknown): boolean {
  return meaningOfError(error, 'series').reason === 'oversize';
}
