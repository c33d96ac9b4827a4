import { hash32, unitHash } from '../../runtime/random.ts';

/** One hour in milliseconds. */
export const HOUR_MS = 3_600_000;

/** One minute in milliseconds. */
export const MINUTE_MS = 60_000;

/** A repeatable number from 0 (included) to 1 (left out) for whatever its parts name. */
export function draw(...parts: readonly (string | number)[]): number {
  return unitHash(parts.join('/'));
}

/** A repeatable UUID of version 4 for whatever its parts name. */
export function uuidOf(...parts: readonly (string | number)[]): string {
  const name = parts.join('/');
  const hex = ['a', 'b', 'c', 'd'].map((part) => hash32(`${part}:${name}`).toString(16).padStart(8, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20)].join('-');
}

/** Noise from 0 to 1 without jumps: a fresh draw every `stepMs`, eased from one to the next. */
export function smoothNoise(name: string, at: number, stepMs: number): number {
  const slot = Math.floor(at / stepMs);
  const part = at / stepMs - slot;
  const eased = part * part * (3 - 2 * part);
  return draw(name, slot) * (1 - eased) + draw(name, slot + 1) * eased;
}

/** How busy people are at a place, 0 to 1: quiet at night, busiest at two in the afternoon. */
export function dailyLoad(at: number, utcOffsetHours: number): number {
  const hour = (at / HOUR_MS + utcOffsetHours) % 24;
  return 0.5 + 0.5 * Math.cos(((hour - 14) / 24) * 2 * Math.PI);
}

/** Rises evenly from 0 to 1 over a period, then falls at once. */
export function sawtooth(name: string, at: number, periodMs: number): number {
  const turns = at / periodMs + draw(name, 'phase');
  return turns - Math.floor(turns);
}

/** The last whole step not after a moment. */
export function floorTo(at: number, stepMs: number): number {
  return Math.floor(at / stepMs) * stepMs;
}

/** RFC 3339 in UTC, to the second unless milliseconds are asked for. */
export function rfc3339(at: number, fractional = false): string {
  const text = new Date(at).toISOString();
  return fractional ? text : `${text.slice(0, 19)}Z`;
}
