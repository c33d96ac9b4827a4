/** The number of maps that share the entries: at 30,000 each has a few hundred. */
const PARTS = 64;

/**
 * A map of tens of thousands of entries, in many small ones. V8 copies a whole `Map` whenever it doubles: at 32,768 entries
 * that takes the event loop 10 ms and more, and maps of the same keys double in the same turn.
 */
export class LargeMap<Key, Value> {
  readonly #hash: (key: Key) => number;
  readonly #parts: readonly Map<Key, Value>[];
  #size = 0;

  /** `hash`: from 0 (included) to 1 (excluded), the same whenever it is computed for a key. */
  constructor(hash: (key: Key) => number, parts = PARTS) {
    this.#hash = hash;
    this.#parts = Array.from({ length: parts }, () => new Map<Key, Value>());
  }

  /** The small maps, each in the order in which its entries were set. */
  get parts(): readonly ReadonlyMap<Key, Value>[] {
    return this.#parts;
  }

  get size(): number {
    return this.#size;
  }

  /** Returns all keys, in no particular order. */
  *keys(): Generator<Key> {
    for (const part of this.#parts) yield* part.keys();
  }

  /** Returns all entries, in no particular order. */
  *entries(): Generator<[Key, Value]> {
    for (const part of this.#parts) yield* part.entries();
  }

  has(key: Key): boolean {
    return this.#partOf(key).has(key);
  }

  get(key: Key): Value | undefined {
    return this.#partOf(key).get(key);
  }

  set(key: Key, value: Value): void {
    const part = this.#partOf(key);
    this.#size -= part.size;
    part.set(key, value);
    this.#size += part.size;
  }

  delete(key: Key): void {
    if (this.#partOf(key).delete(key)) this.#size -= 1;
  }

  #partOf(key: Key): Map<Key, Value> {
    return this.#parts[Math.floor(this.#hash(key) * this.#parts.length)] as Map<Key, Value>;
  }
}
