export const RETRY_AFTER_BOUNDS = { shortestMs: 1_000, longestMs: 900_000 } as const;

const HTTP_DATE = /^[A-Za-z]{3,9},? \d{2}[ -][A-Za-z]{3}[ -]\d{2,4} \d{2}:\d{2}:\d{2} GMT$/;

/** The third date format of RFC 9110 5.6.7: asctime's, which is UTC without a time zone. */
const ASCTIME_DATE = /^[A-Za-z]{3} [A-Za-z]{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

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
  const until = httpDate(text);
  return until === undefined ? undefined : bounded(until - (httpDate(date ?? '') ?? now));
}

/** In epoch milliseconds; undefined for any other text, because `Date.parse` would read many as local time. */
function httpDate(text: string): number | undefined {
  if (!HTTP_DATE.test(text) && !ASCTIME_DATE.test(text)) return undefined;
  const moment = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isFinite(moment) ? moment : undefined;
}

function bounded(ms: number): number {
  return Math.min(Math.max(ms, RETRY_AFTER_BOUNDS.shortestMs), RETRY_AFTER_BOUNDS.longestMs);
}
