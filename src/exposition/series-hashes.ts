/** Up to this number a linear search is cheaper than a table. */
const FEW = 64;

/** The hashes of series, each once; a `Set` of them takes twice as long. */
export class SeriesHashes {
  readonly #few: number[] = [];
  /** Open addressing, at most half full; 0 is an empty slot. */
  #slots: Float64Array | undefined;
  #count = 0;

  /** Adds a hash above 0; false if it is here already. */
  add(hash: number): boolean {
    if (this.#slots === undefined) {
      if (this.#few.includes(hash)) return false;
      if (this.#few.length < FEW) {
        this.#few.push(hash);
        return true;
      }
      this.#slots = tableOf(this.#few, 4 * FEW);
      this.#count = FEW;
    }
    if (2 * this.#count >= this.#slots.length) this.#slots = tableOf(this.#slots, 4 * this.#slots.length);
    if (!settle(this.#slots, hash)) return false;
    this.#count += 1;
    return true;
  }
}

function tableOf(hashes: Iterable<number>, length: number): Float64Array {
  const slots = new Float64Array(length);
  for (const hash of hashes) if (hash !== 0) settle(slots, hash);
  return slots;
}

function settle(slots: Float64Array, hash: number): boolean {
  const mask = slots.length - 1;
  let at = hash & mask;
  while (slots[at] !== 0) {
    if (slots[at] === hash) return false;
    at = (at + 1) & mask;
  }
  slots[at] = hash;
  return true;
}
