import { hash32, unitHash } from '../../runtime/random.ts';

export const HOUR_MS = 3_600_000;

export const MINUTE_MS = 60_000;

/** A repeatable number from 0 (inclusive) to 1 (exclusive), derived from the parts. */
export function draw(...parts: readonly (string | number)[]): number {
  return unitHash(parts.join('/'));
}

/** A repeatable UUID of version 4, derived from the parts. */
export function uuidOf(...parts: readonly (string | number)[]): string {
  const name = parts.join('/');
  const hex = ['a', 'b', 'c', 'd'].map((part) => hash32(`${part}:${name}`).toString(16).padStart(8, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20)].join('-');
}

/** Smooth noise from 0 to 1: a new random number every `stepMs`, with eased values between them. */
export function smoothNoise(name: string, at: number, stepMs: number): number {
  const slot = Math.floor(at / stepMs);
  const part = at / stepMs - slot;
  const eased = part * part * (3 - 2 * part);
  return draw(name, slot) * (1 - eased) + draw(name, slot + 1) * eased;
}

/** The activity of people at a place, 0 to 1: low at night, highest at two in the afternoon. */
export function dailyLoad(at: number, utcOffsetHours: number): number {
  const hour = (at / HOUR_MS + utcOffsetHours) % 24;
  return 0.5 + 0.5 * Math.cos(((hour - 14) / 24) * 2 * Math.PI);
}

/** A sawtooth: rises linearly from 0 to 1 over a period, then starts again. */
export function sawtooth(name: string, at: number, periodMs: number): number {
  const turns = at / periodMs + draw(name, 'phase');
  return turns - Math.floor(turns);
}

/** A moment rounded down to a whole step. */
export function floorTo(at: number, stepMs: number): number {
  return Math.floor(at / stepMs) * stepMs;
}

/** RFC 3339 in UTC, in seconds or, on request, in milliseconds. */
export function rfc3339(at: number, fractional = false): string {
  const text = new Date(at).toISOString();
  return fractional ? text : `${text.slice(0, 19)}Z`;
}
