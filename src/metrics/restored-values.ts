/**
 * Checks of values that come back from the state file, which may have been changed by hand together with its checksum.
 * Each gives the value, or throws a TypeError: the file is put aside then.
 */

/** A whole number of at least 0, as counts are. */
export function keptCount(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new TypeError('expected a count in what was kept');
}

/** A finite number of at least `least`. */
export function keptNumber(value: unknown, least = Number.NEGATIVE_INFINITY): number {
  if (typeof value === 'number' && Number.isFinite(value) && value >= least) return value;
  throw new TypeError('expected a number in what was kept');
}

/** A list. */
export function keptList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new TypeError('expected a list in what was kept');
}

/** A text. */
export function keptText(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new TypeError('expected a text in what was kept');
}

/** One of these words. */
export function keptWord<Word extends string>(value: unknown, words: readonly Word[]): Word {
  const word = words.find((one) => one === value);
  if (word !== undefined) return word;
  throw new TypeError('expected a known word in what was kept');
}
