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

/** 2^63 nanoseconds, the longest duration of Prometheus. */
const MAX_MS = 9_223_372_036_854;

const PATTERN = /^(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;

/**
 * Returns the milliseconds of a Prometheus duration (`90s`, `1h30m`), or undefined for other text. As in Prometheus,
 * larger units come first, each at most once, only `0` needs no unit, and 292 years are the maximum.
 */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  const counts = PATTERN.exec(text)?.slice(1);
  if (text === '' || counts === undefined) return undefined;
  let totalMs = 0;
  for (const [place, { lengthMs }] of UNITS.entries()) totalMs += Number(counts[place] ?? 0) * lengthMs;
  return totalMs <= MAX_MS ? totalMs : undefined;
}

/** Formats whole milliseconds as Prometheus does: years and weeks only if nothing remains (`90d`, not `12w6d`). */
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
