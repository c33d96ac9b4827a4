import { parseHttpDate } from './http-date.ts';

export const RETRY_AFTER_BOUNDS = { shortestMs: 1_000, longestMs: 900_000 } as const;

/**
 * In milliseconds within {@link RETRY_AFTER_BOUNDS}; undefined for what is neither seconds nor an HTTP date. A date is
 * compared with the answer's own `Date` if there is one, so that a wrong clock on either side changes nothing.
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
  return Math.min(Math.max(ms, RETRY_AFTER_BOUNDS.shortestMs), RETRY_AFTER_BOUNDS.longestMs);
}
