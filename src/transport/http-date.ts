const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const TIME = String.raw`(?<hour>[01]\d|2[0-3]):(?<minute>[0-5]\d):(?<second>[0-5]\d|60)`;

/** The three formats of RFC 9110, section 5.6.7: IMF-fixdate, RFC 850 and asctime. */
const FORMATS = [
  new RegExp(String.raw`^[A-Za-z]{3}, (?<day>\d{1,2}) (?<month>[A-Za-z]{3}) (?<year>\d{4}) ${TIME} GMT$`),
  new RegExp(String.raw`^[A-Za-z]{6,9}, (?<day>\d{2})-(?<month>[A-Za-z]{3})-(?<year>\d{2}) ${TIME} GMT$`),
  new RegExp(String.raw`^[A-Za-z]{3} (?<month>[A-Za-z]{3}) (?<day>[ \d]\d) ${TIME} (?<year>\d{4})$`),
];

/**
 * Returns the epoch milliseconds of an HTTP date, or undefined for any other text. A leap second counts as the first second
 * of the next minute. A year of two digits is read as at most fifty years after `now`, as the RFC demands.
 */
export function parseHttpDate(text: string | undefined, nowMs: number): number | undefined {
  for (const format of FORMATS) {
    const { day, month = '', year = '', hour, minute, second } = format.exec(text ?? '')?.groups ?? {};
    if (year === '') continue;
    const monthIndex = MONTHS.indexOf(month);
    // Date.UTC would read the years 0 to 99 as 1900 to 1999.
    const midnight = (fullYear: number) => new Date(0).setUTCFullYear(fullYear, monthIndex, Number(day));
    const timeMs = ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1_000;
    const at = (fullYear: number) => midnight(fullYear) + timeMs;
    const fullYear = year.length === 2 ? fullYearOf(Number(year), nowMs, at) : Number(year);
    // A day that the month does not have becomes a day of the next month.
    const isInMonth = monthIndex >= 0 && new Date(midnight(fullYear)).getUTCDate() === Number(day);
    return isInMonth ? at(fullYear) : undefined;
  }
  return undefined;
}

function fullYearOf(twoDigits: number, nowMs: number, at: (fullYear: number) => number): number {
  const latest = new Date(nowMs);
  latest.setUTCFullYear(latest.getUTCFullYear() + 50);
  const century = Math.floor(latest.getUTCFullYear() / 100) * 100;
  return at(century + twoDigits) <= latest.getTime() ? century + twoDigits : century - 100 + twoDigits;
}
