/** The header is honoured up to an hour, in milliseconds. */
const BOUNDS = { minMs: 1_000, maxMs: 3_600_000 } as const;

/**
 * Returns the wait in milliseconds, from a second to an hour, or undefined if the header has neither seconds nor an HTTP
 * date. A date is compared with the `Date` of the same response if it has one, so that a wrong clock on either side changes
 * nothing.
 */
export function retryAfterMs(
  retryAfter: string | undefined,
  date: string | undefined,
  now: number,
): number | undefined {
  const text = retryAfter?.trim() ?? '';
  if (/^\d+(?:\.\d+)?$/.test(text)) return bounded(Number(text) * 1000);
  const until = parseHttpDate(text);
  return until === undefined ? undefined : bounded(until - (parseHttpDate(date) ?? now));
}

function bounded(ms: number): number {
  return Math.min(Math.max(ms, BOUNDS.minMs), BOUNDS.maxMs);
}

const TIME = String.raw`\d{2}:\d{2}:\d{2}`;

/** The formats of RFC 9110, section 5.6.7: IMF-fixdate and RFC 850 name the zone, asctime does not. */
const WITH_ZONE = new RegExp(`^[A-Za-z]{3,9}, \\d{1,2}[ -][A-Za-z]{3}[ -](?:\\d{4}|\\d{2}) ${TIME} GMT$`);
const ASCTIME = new RegExp(`^[A-Za-z]{3} [A-Za-z]{3} [ \\d]\\d ${TIME} \\d{4}$`);

/**
 * Returns the epoch milliseconds of an HTTP date, or undefined for any other text. The form is checked first, because
 * `Date.parse` makes a date of `5 seconds` too, and reads asctime in the zone of the machine. A leap second counts as the
 * second before.
 */
export function parseHttpDate(text: string | undefined): number | undefined {
  if (text === undefined || !(WITH_ZONE.test(text) || ASCTIME.test(text))) return undefined;
  const withZone = text.endsWith('GMT') ? text : `${text} GMT`;
  const epochMs = Date.parse(withZone.replace(':60 ', ':59 '));
  return Number.isNaN(epochMs) ? undefined : epochMs;
}
