const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const TIME = String.raw`(?<hour>[01]\d|2[0-3]):(?<minute>[0-5]\d):(?<second>[0-5]\d|60)`;

/** The three formats of RFC 9110, section 5.6.7: IMF-fixdate, RFC 850 and asctime. */
const FORMATS = [
  new RegExp(String.raw`^[A-Za-z]{3}, (?<day>\d{1,2}) (?<month>[A-Za-z]{3}) (?<year>\d{4}) ${TIME} GMT$`),
  new RegExp(String.raw`^[A-Za-z]{6,9}, (?<day>\d{2})-(?<month>[A-Za-z]{3})-(?<year>\d{2}) ${TIME} GMT$`),
  new RegExp(String.raw`^[A-Za-z]{3} (?<month>[A-Za-z]{3}) (?<day>[ \d]\d) ${TIME} (?<year>\d{4})$`),
];

/**
 * Epoch milliseconds of an HTTP date; undefined for anything else. A leap second counts as the first second of the next
 * minute. A year of two digits is at most fifty years after `now`, as the RFC demands.
 */
export function parseHttpDate(text: string | undefined, now: number): number | undefined {
  for (const format of FORMATS) {
    const { day, month = '', year = '', hour, minute, second } = format.exec(text ?? '')?.groups ?? {};
    if (year === '') continue;
    const index = MONTHS.indexOf(month);
    const at = (fullYear: number) =>
      Date.UTC(fullYear, index, Number(day), Number(hour), Number(minute), Number(second));
    const fullYear = year.length === 2 ? yearOfTwoDigits(Number(year), now, at) : Number(year);
    // A day that the month does not have would be one of the next month.
    const isDay = index >= 0 && new Date(Date.UTC(fullYear, index, Number(day))).getUTCDate() === Number(day);
    return isDay ? at(fullYear) : undefined;
  }
  return undefined;
}

function yearOfTwoDigits(digits: number, now: number, at: (fullYear: number) => number): number {
  const latest = new Date(now);
  latest.setUTCFullYear(latest.getUTCFullYear() + 50);
  const century = Math.floor(latest.getUTCFullYear() / 100) * 100;
  return at(century + digits) <= latest.getTime() ? century + digits : century - 100 + digits;
}
