import { randomBytes } from 'node:crypto';

/** A source of numbers from 0 (included) to 1 (excluded). */
export type Random = () => number;

/** The only place in the program that draws unpredictable numbers. */
export const systemRandom: Random = () => Math.random();

/** Returns a hash that is the same on every machine and in every version: FNV-1a over UTF-16 units. */
export function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  // This is the last step of MurmurHash3: without it, names that differ in their last letter would get nearly equal hashes.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Maps a text to a stable number from 0 (included) to 1 (excluded); spreads phases evenly. */
export function unitHash(text: string): number {
  return hash32(text) / 2 ** 32;
}

/** Returns the delay after some failures in a row: it doubles up to `maxMs`, times a random factor from 0.5 to 1. */
export function exponentialDelayMs(
  { firstMs, maxMs = Number.POSITIVE_INFINITY }: { readonly firstMs: number; readonly maxMs?: number },
  failures: number,
  random: Random,
): number {
  return Math.min(maxMs, firstMs * 2 ** (failures - 1)) * (0.5 + random() / 2);
}

export function randomKey(): Buffer {
  return randomBytes(32);
}
