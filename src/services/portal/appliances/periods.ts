import { RequestError } from '../../../runtime/errors.ts';
import { type FailureReason, meaningOf } from '../../../runtime/failures.ts';

/** The shortest period that the portal accepts, in milliseconds. */
const MIN_PERIOD_MS = 360_000;

/** The longest period that a task may request: halved after a failure, and doubled after a success. */
export class PeriodLimit {
  #ms = Number.POSITIVE_INFINITY;

  /** Infinity if there is no limit. */
  get ms(): number {
    return this.#ms;
  }

  /**
   * Calls `send` with a length of at most `wantedMs`, and with half of it after each response that is too large or too slow
   * for the service. Returns the length that has succeeded.
   */
  async request<Result>(
    wantedMs: number,
    send: (lengthMs: number) => Promise<Result>,
  ): Promise<{ readonly lengthMs: number; readonly result: Result }> {
    for (let isShortened = false; ; isShortened = true) {
      const lengthMs = Math.max(MIN_PERIOD_MS, Math.min(wantedMs, this.#ms));
      try {
        const result = await send(lengthMs);
        if (!isShortened) this.double(wantedMs);
        return { lengthMs, result };
      } catch (error) {
        if (meaningOf(error).action !== 'shrink' || lengthMs === MIN_PERIOD_MS) throw error;
        this.halve(lengthMs);
      }
    }
  }

  /** Called after a request of this length has failed. */
  halve(lengthMs: number): void {
    this.#ms = lengthMs / 2;
  }

  /** Called after a request has succeeded. `enoughMs` is all that a request ever needs, so a limit that allows it is removed. */
  double(enoughMs: number): void {
    this.#ms = 2 * this.#ms >= enoughMs ? Number.POSITIVE_INFINITY : 2 * this.#ms;
  }
}

export function isAborted(error: unknown): boolean {
  return error instanceof RequestError && error.reason === 'aborted';
}

const NOT_OF_PERIOD: readonly FailureReason[] = ['throttled', 'credentials', 'forbidden', 'not_found'];

/** Whether the period of the request may be the cause of the failure. */
export function mayBeOfPeriod(error: unknown): boolean {
  return !isAborted(error) && !NOT_OF_PERIOD.includes(meaningOf(error).reason);
}

/** An ISO 8601 duration, such as `PT15M`. As a period, it ends when the service reads the request. */
export function isoPeriod(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds % 60 === 0 ? `PT${seconds / 60}M` : `PT${seconds}S`;
}

/** A period between two times in epoch milliseconds, by the service's clock. */
export function isoInterval(from: number, to: number): string {
  return `${new Date(from).toISOString()}/${new Date(to).toISOString()}`;
}
