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

/** A duration as Go writes it (`1m30s`, `1.5h`): units in any order; zero needs none. */
export const GO_DURATION = new RegExp(`^(?:[+-]?0+|\\+?(?:${PART})+)$`);

/** Returns the milliseconds of a text that matches {@link GO_DURATION}. */
export function goDurationMs(text: string): number {
  return [...text.matchAll(new RegExp(PART, 'g'))].reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (UNITS[unit] ?? 0),
    0,
  );
}
