/** Numbers, ids and times that depend on names and the clock alone, so that every request sees the same fleet. */

import { hash32, type Random, unitHash } from '../runtime/random.ts';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

type Part = string | number;

/** A repeatable number from 0 (inclusive) to 1 (exclusive). */
export function draw(...name: readonly Part[]): number {
  return unitHash(name.join('/'));
}

/** A repeatable sequence of such numbers (mulberry32). */
export function draws(...name: readonly Part[]): Random {
  let state = hash32(name.join('/')) | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A repeatable UUID. */
export function uuidOf(...name: readonly Part[]): string {
  const text = name.join('/');
  const hex = ['a', 'b', 'c', 'd'].map((part) => hash32(`${part}:${text}`).toString(16).padStart(8, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20)].join('-');
}

/** Smooth noise from 0 to 1: another random number every `stepMs`, with eased values in between. */
export function noise(name: string, at: number, stepMs: number): number {
  const slot = Math.floor(at / stepMs);
  const part = at / stepMs - slot;
  const eased = part * part * (3 - 2 * part);
  return draw(name, slot) * (1 - eased) + draw(name, slot + 1) * eased;
}

/** Rises from 0 to 1 over a period, then starts again; each name at a time of its own. */
export function sawtooth(name: string, at: number, periodMs: number): number {
  const periods = at / periodMs + draw(name, 'phase');
  return periods - Math.floor(periods);
}

export function floorTo(at: number, stepMs: number): number {
  return Math.floor(at / stepMs) * stepMs;
}

/** RFC 3339 in UTC, in whole seconds. */
export function rfc3339(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}
