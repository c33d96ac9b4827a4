import { parseHttpDate } from './http-date.ts';

export const RETRY_AFTER_BOUNDS = { minMs: 1_000, maxMs: 900_000 } as const;

/**
 * Returns the wait in milliseconds within {@link RETRY_AFTER_BOUNDS}, or undefined if the header has neither seconds nor
 * an HTTP date. A date is compared with the `Date` of the same response if it has one, so that a wrong clock on either side
 * changes nothing.
 */
export function retryAfterMs(
  retryAfter: string | undefined,
  date: string | undefined,
  now: number,
): number | undefined {
  const text = retryAfter?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d+(?:\.\d+)?$/.test(text)) return bounded(Number(text) * 1000);
  const until = parseHttpDate(text, now);
  return until === undefined ? undefined : bounded(until - (parseHttpDate(date, now) ?? now));
}

function bounded(ms: number): number {
  return Math.min(Math.max(ms, RETRY_AFTER_BOUNDS.minMs), RETRY_AFTER_BOUNDS.maxMs);
}
