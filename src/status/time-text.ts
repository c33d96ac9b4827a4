/** A number rounded to a thousandth, for readers. */
export function roundToThousandth(value: number): number {
  return Math.round(value * 1000) / 1000;
}

/** The latest time that a date can represent: a service may send any number of seconds. */
const LAST_DATE_MS = 8.64e15;

/** Formats a time in epoch milliseconds. */
export function rfc3339(at: number): string {
  return new Date(Math.min(at, LAST_DATE_MS)).toISOString();
}

/** Formats a time that may be unknown. */
export function rfc3339OrNull(at: number | undefined): string | null {
  return at === undefined ? null : rfc3339(at);
}
