export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Such as `90s` or `1.5h`. */
export type Duration = `${number}${'s' | 'm' | 'h' | 'd'}`;

export function milliseconds(duration: Duration): number {
  const unit = { s: SECOND, m: MINUTE, h: HOUR, d: DAY }[duration.slice(-1)];
  return Number(duration.slice(0, -1)) * (unit ?? Number.NaN);
}
