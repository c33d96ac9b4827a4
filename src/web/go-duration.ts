/** Go's units, in milliseconds; the micro sign is two characters, of Latin-1 and of the Greek alphabet. */
const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  '\u00b5s': 1e-3,
  '\u03bcs': 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const PART = String.raw`(\d+(?:\.\d*)?|\.\d+)(${Object.keys(UNITS).join('|')})`;
const WHOLE = new RegExp(`^\\+?(?:${PART})+$`);

/** Go's longest, of 2^63 - 1 nanoseconds. */
const LONGEST_MS = 9_223_372_036_854;

/**
 * Milliseconds of a duration as Go writes them (`1m30s`, `1.5h`), or undefined where the text is none. Units come in any
 * order, and zero alone needs none. One below zero is none: nothing here lasts less than no time.
 */
export function goDurationMs(text: string): number | undefined {
  if (/^[+-]?0+$/.test(text)) return 0;
  if (!WHOLE.test(text)) return undefined;
  let totalMs = 0;
  for (const [, count, unit = ''] of text.matchAll(new RegExp(PART, 'g')))
    totalMs += Number(count) * (UNITS[unit] ?? 0);
  return totalMs <= LONGEST_MS ? totalMs : undefined;
}
