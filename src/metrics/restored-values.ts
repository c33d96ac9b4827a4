/**
 * Checks of values from the state file, which may have been edited together with its checksum. Each returns the value,
 * or throws a TypeError: the file is then moved aside.
 */

/** A whole number of at least 0. */
export function keptCount(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new TypeError('state file: expected a count');
}

/** A finite number of at least `least`. */
export function keptNumber(value: unknown, least = Number.NEGATIVE_INFINITY): number {
  if (typeof value === 'number' && Number.isFinite(value) && value >= least) return value;
  throw new TypeError('state file: expected a number');
}

export function keptList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new TypeError('state file: expected a list');
}

export function keptText(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new TypeError('state file: expected a string');
}

/** One of these words. */
export function keptWord<Word extends string>(value: unknown, words: readonly Word[]): Word {
  const word = words.find((one) => one === value);
  if (word !== undefined) return word;
  throw new TypeError('state file: expected a known word');
}
