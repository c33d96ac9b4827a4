import { HOUR_MS, MINUTE_MS } from '../world/waveforms.ts';

/** A period of time in milliseconds since the Unix epoch. */
export interface RequestedPeriod {
  readonly startMs: number;
  readonly endMs: number;
}

const MIN_MS = 6 * MINUTE_MS;
const MAX_MS = 30 * 24 * HOUR_MS;
const DURATION = /^P(?=.)(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/;
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;
const UNITS_MS = [7 * 24 * HOUR_MS, 24 * HOUR_MS, HOUR_MS, MINUTE_MS, 1000] as const;

/** A period in any of its three forms, or its error. */
export function parsePeriod(text: string, now: number): RequestedPeriod | string {
  const period = duration(text, now) ?? interval(text);
  if (period === undefined) return 'neither an ISO 8601 duration nor an interval';
  const lengthMs = period.endMs - period.startMs;
  if (Number.isNaN(lengthMs)) return 'not a moment in time';
  if (lengthMs < MIN_MS) return 'shorter than 6 minutes';
  return lengthMs > MAX_MS ? 'longer than 30 days' : period;
}

/** `PT15M`, ending now. */
function duration(text: string, now: number): RequestedPeriod | undefined {
  const parts = DURATION.exec(text)?.slice(1);
  if (parts === undefined) return undefined;
  const lengthMs = parts.reduce((sum, part, unit) => sum + Number(part ?? 0) * (UNITS_MS[unit] ?? 0), 0);
  return { startMs: now - lengthMs, endMs: now };
}

/** Two moments separated by a slash, both in RFC 3339 or both in epoch milliseconds. */
function interval(text: string): RequestedPeriod | undefined {
  const ends = text.split('/');
  const [start = '', end = ''] = ends;
  if (ends.length !== 2) return undefined;
  if (MOMENT.test(start) && MOMENT.test(end)) return { startMs: Date.parse(start), endMs: Date.parse(end) };
  const isNumber = (part: string) => /^\d{1,15}$/.test(part);
  return isNumber(start) && isNumber(end) ? { startMs: Number(start), endMs: Number(end) } : undefined;
}
