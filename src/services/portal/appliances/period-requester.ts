import { policyForError } from '../../../runtime/error-policy.ts';
import { RequestError } from '../../../runtime/errors.ts';

/** The shortest period that the portal accepts, in milliseconds. */
export const MIN_PERIOD_MS = 360_000;

/** The longest period of one request about an appliance: it returns more records than are read. */
const MAX_PERIOD_MS = 5 * 86_400_000;

/** In milliseconds since the Unix epoch, by the clock of the service. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

interface RequestOptions {
  /** Requests begin where a bin does. */
  readonly binMs?: number;
  /** A rejected request is sent for a shorter period, the newest for no shorter one than this; default: not at all. */
  readonly usualMs?: number;
  readonly longestMs?: number;
  /** Whether one request is enough, however short. */
  readonly isNewestEnough?: boolean;
}

/** What could be had of a period: all of it without `failure`. */
export interface Coverage {
  readonly from: number;
  readonly failure?: unknown;
}

/** How long the period of a task's requests may be: halved after a failure, and longer again after a success. */
export class PeriodLimits {
  readonly #limits = new Map<string, number>();
  readonly #growth: number;

  constructor(growth = 2) {
    this.#growth = growth;
  }

  of(task: string, maxMs = MAX_PERIOD_MS): number {
    return Math.min(maxMs, this.#limits.get(task) ?? maxMs);
  }

  /** A request of this length has failed. */
  halve(task: string, lengthMs: number): void {
    this.#limits.set(task, Math.max(MIN_PERIOD_MS, lengthMs / 2));
  }

  /** A request succeeded at once, of as much as the limit allowed of `wantedMs`. */
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
 * Requests a period in parts that are short enough: shorter after a response that is too large or too slow (408, 413), or
 * after a rejected request (400, 422).
 */
export class PeriodRequester {
  readonly limits = new PeriodLimits();

  /** The newest first; `send` gets the period of each, and whether it is all. Rejects if the newest cannot be had. */
  async requestPeriod(
    task: string,
    { from, to }: Period,
    { binMs = 1, usualMs, longestMs = MAX_PERIOD_MS, isNewestEnough = false }: RequestOptions,
    send: (part: Period, isAll: boolean) => Promise<void>,
  ): Promise<Coverage> {
    let start = to;
    let isAsWanted = true;
    while (start > from && (start === to || !isNewestEnough)) {
      const lengthMs = Math.max(MIN_PERIOD_MS, Math.min(start - from, this.limits.of(task, longestMs)));
      const begin = Math.floor((start - lengthMs) / binMs) * binMs;
      try {
        await send({ from: begin, to: start }, start === to && begin <= from);
        start = begin;
      } catch (error) {
        if (lengthMs > shortestAfter(error, usualMs && (start === to ? usualMs : MIN_PERIOD_MS))) {
          this.limits.halve(task, lengthMs);
          isAsWanted = false;
        } else if (start === to || isAborted(error)) throw error;
        else return { from: start, failure: error };
      }
    }
    if (isAsWanted) this.limits.lengthen(task, Math.min(to - from, longestMs));
    return { from: start };
  }
}

function shortestAfter(error: unknown, ifRejectedMs = Number.POSITIVE_INFINITY): number {
  if (isRejected(error)) return ifRejectedMs;
  return isPeriodTooLong(error) ? MIN_PERIOD_MS : Number.POSITIVE_INFINITY;
}

export function isAborted(error: unknown): boolean {
  return error instanceof RequestError && error.reason === 'aborted';
}

/** The answer is too large, or the service did not find all of it in time. */
export function isPeriodTooLong(error: unknown): boolean {
  return policyForError(error, 'series').action === 'shrink';
}

/** The service does not accept the request, maybe because of its period. */
export function isRejected(error: unknown): boolean {
  return policyForError(error, 'series').reason === 'rejected';
}

/** An ISO 8601 duration ending now, as `PT15M`. */
export function isoPeriod(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds % 60 === 0 ? `PT${seconds / 60}M` : `PT${seconds}S`;
}

export function isoInterval({ from, to }: Period): string {
  return `${new Date(from).toISOString()}/${new Date(to).toISOString()}`;
}
