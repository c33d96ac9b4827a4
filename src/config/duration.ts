/** Prometheus' units from the largest to the smallest, in milliseconds; a year has 365 days. */
const UNITS = [
  { unit: 'y', lengthMs: 31_536_000_000, wholeOnly: true },
  { unit: 'w', lengthMs: 604_800_000, wholeOnly: true },
  { unit: 'd', lengthMs: 86_400_000, wholeOnly: false },
  { unit: 'h', lengthMs: 3_600_000, wholeOnly: false },
  { unit: 'm', lengthMs: 60_000, wholeOnly: false },
  { unit: 's', lengthMs: 1000, wholeOnly: false },
  { unit: 'ms', lengthMs: 1, wholeOnly: false },
] as const;

/** 2^63 nanoseconds. */
const MAX_MS = 9_223_372_036_854;

const PATTERN = /^(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;

/**
 * Milliseconds of a Prometheus duration (`90s`, `1h30m`); undefined if the text is not one. As in Prometheus, larger
 * units come first, each at most once, and only `0` needs no unit. Undefined also for more than 292 years, which
 * Prometheus cannot hold in nanoseconds.
 */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  const counts = PATTERN.exec(text)?.slice(1);
  if (text === '' || counts === undefined) return undefined;
  let totalMs = 0;
  for (const [place, { lengthMs }] of UNITS.entries()) totalMs += Number(counts[place] ?? 0) * lengthMs;
  return totalMs <= MAX_MS ? totalMs : undefined;
}

/** A length in whole milliseconds as Prometheus writes it: years and weeks without a remainder (`90d`, not `12w6d`). */
export function formatDuration(ms: number): string {
  let remainingMs = Math.round(ms);
  let text = '';
  for (const { unit, lengthMs, wholeOnly } of UNITS) {
    if (remainingMs < lengthMs || (wholeOnly && remainingMs % lengthMs !== 0)) continue;
    text += `${Math.floor(remainingMs / lengthMs)}${unit}`;
    remainingMs %= lengthMs;
  }
  return text === '' ? '0s' : text;
}
