import { RequestError } from '../../../runtime/errors.ts';
import { meaningOf } from '../../../runtime/failures.ts';

/** The shortest period that the portal accepts, in milliseconds. */
export const MIN_PERIOD_MS = 360_000;

/** The longest period of one request about an appliance. A longer one would return more records than are read. */
const MAX_PERIOD_MS = 5 * 86_400_000;

/** A time range, in epoch milliseconds by the service's clock. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

interface RequestOptions {
  /** The length of a bin: each part begins with a whole bin. */
  readonly binMs?: number;
  /** After a rejection (400, 422) a shorter period is requested, of the newest part never a shorter one than this. Default: a rejection is final. */
  readonly newestMinMs?: number;
  readonly maxMs?: number;
  /** Whether the newest part is enough, however short it is. */
  readonly isNewestEnough?: boolean;
}

/** How much of a period was read: from `from` on. `failure` is why the earlier part could not be read. */
export interface Coverage {
  readonly from: number;
  readonly failure?: unknown;
}

/** The longest period that each task requests: halved after a failure, and lengthened after a success. */
export class PeriodLimits {
  readonly #limits = new Map<string, number>();
  readonly #growth: number;

  constructor(growth = 2) {
    this.#growth = growth;
  }

  of(task: string, maxMs = MAX_PERIOD_MS): number {
    return Math.min(maxMs, this.#limits.get(task) ?? maxMs);
  }

  /** Called after a request of this length has failed. */
  halve(task: string, lengthMs: number): void {
    this.#limits.set(task, Math.max(MIN_PERIOD_MS, lengthMs / 2));
  }

  /** Called after the first request has succeeded, which covered as much of `wantedMs` as the limit allowed. */
  lengthen(task: string, wantedMs: number): void {
    const limit = this.#limits.get(task);
    if (limit === undefined) return;
    const longer = limit * this.#growth;
    if (longer >= Math.min(wantedMs, MAX_PERIOD_MS)) this.#limits.delete(task);
    else this.#limits.set(task, longer);
  }

  keepOnly(isPolled: (task: string) => boolean): void {
    for (const task of this.#limits.keys()) if (!isPolled(task)) this.#limits.delete(task);
  }
}

/**
 * Requests a period in parts, the newest first. Parts become shorter after a response that is too large or too slow (408,
 * 413), and after a rejected request (400, 422).
 */
export class PeriodRequester {
  readonly limits = new PeriodLimits();

  /** Calls `send` for each part, with whether the part is the whole period. Rejects if the newest part cannot be read. */
  async requestPeriod(
    task: string,
    { from, to }: Period,
    { binMs = 1, newestMinMs, maxMs = MAX_PERIOD_MS, isNewestEnough = false }: RequestOptions,
    send: (part: Period, isWholePeriod: boolean) => Promise<void>,
  ): Promise<Coverage> {
    let start = to;
    let isShortened = false;
    while (start > from && (start === to || !isNewestEnough)) {
      const lengthMs = Math.max(MIN_PERIOD_MS, Math.min(start - from, this.limits.of(task, maxMs)));
      const begin = Math.floor((start - lengthMs) / binMs) * binMs;
      try {
        await send({ from: begin, to: start }, start === to && begin <= from);
        start = begin;
      } catch (error) {
        const isNewest = start === to;
        const minAfterRejection = newestMinMs && (isNewest ? newestMinMs : MIN_PERIOD_MS);
        if (lengthMs > minPeriodAfter(error, minAfterRejection)) {
          this.limits.halve(task, lengthMs);
          isShortened = true;
        } else if (isNewest || isAborted(error)) throw error;
        else return { from: start, failure: error };
      }
    }
    if (!isShortened) this.limits.lengthen(task, Math.min(to - from, maxMs));
    return { from: start };
  }
}

/** The shortest period that is still requested after an error; infinite if a shorter period would not help. */
function minPeriodAfter(error: unknown, ifRejectedMs = Number.POSITIVE_INFINITY): number {
  if (isRejected(error)) return ifRejectedMs;
  return isPeriodTooLong(error) ? MIN_PERIOD_MS : Number.POSITIVE_INFINITY;
}

export function isAborted(error: unknown): boolean {
  return error instanceof RequestError && error.reason === 'aborted';
}

/** Whether the response was too large, or the service could not produce it in time. */
export function isPeriodTooLong(error: unknown): boolean {
  return meaningOf(error).action === 'shrink';
}

/** Whether the service rejected the request (400, 422), maybe because of its period. */
export function isRejected(error: unknown): boolean {
  return meaningOf(error).reason === 'rejected';
}

/** An ISO 8601 duration, such as `PT15M`. As a period, it ends when the service reads the request. */
export function isoPeriod(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds % 60 === 0 ? `PT${seconds / 60}M` : `PT${seconds}S`;
}

export function isoInterval({ from, to }: Period): string {
  return `${new Date(from).toISOString()}/${new Date(to).toISOString()}`;
}
