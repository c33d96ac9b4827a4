/** Go's units, in milliseconds; there are two characters for micro, in Latin-1 and in the Greek alphabet. */
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

/** Go's longest duration, 2^63 - 1 nanoseconds. */
const LONGEST_MS = 9_223_372_036_854;

/**
 * Milliseconds of a duration as Go writes it (`1m30s`, `1.5h`), or undefined if the text is not one. Units may be in
 * any order, and zero needs none. Negative durations are rejected.
 */
export function goDurationMs(text: string): number | undefined {
  if (/^[+-]?0+$/.test(text)) return 0;
  if (!WHOLE.test(text)) return undefined;
  let totalMs = 0;
  for (const [, count, unit = ''] of text.matchAll(new RegExp(PART, 'g')))
    totalMs += Number(count) * (UNITS[unit] ?? 0);
  return totalMs <= LONGEST_MS ? totalMs : undefined;
}
