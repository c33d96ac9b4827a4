export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Such as `90s` or `1.5h`. */
export type Duration = `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

export function milliseconds(duration: Duration): number {
  const [, number, unit = ''] = /^([\d.]+)(ms|s|m|h|d)$/.exec(duration) ?? [];
  return Number(number) * ({ ms: 1, s: SECOND, m: MINUTE, h: HOUR, d: DAY }[unit] ?? Number.NaN);
}
