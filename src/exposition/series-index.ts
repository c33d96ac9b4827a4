/** Up to this number of series a linear search is cheaper than a table. */
const FEW = 16;

/** The lines of a family: for each the hash of its series and its offset, with a search by hash. */
export class SeriesIndex {
  /** Created for the second line: most families of most tasks have one. */
  #hashes: number[] | undefined;
  #starts: number[] | undefined;
  #onlyHash = 0;
  #count = 0;
  /** Line numbers plus one, by hash; open addressing, at most half full. */
  #slots: Int32Array | undefined;

  get count(): number {
    return this.#count;
  }

  startOf(line: number): number {
    return this.#starts?.[line] ?? 0;
  }

  add(hash: number, start: number): void {
    this.#count += 1;
    if (this.#count === 1) {
      this.#onlyHash = hash;
      return;
    }
    if (this.#hashes === undefined || this.#starts === undefined) {
      this.#hashes = [this.#onlyHash, hash];
      this.#starts = [0, start];
      return;
    }
    this.#hashes.push(hash);
    this.#starts.push(start);
    if (this.#count <= FEW) return;
    if (this.#slots === undefined || 2 * this.#count > this.#slots.length) this.#grow(this.#hashes);
    else settle(this.#slots, hash, this.#count);
  }

  /** The first line after `after` with this hash, or -1. Two series can have one hash. */
  find(hash: number, after: number): number {
    const hashes = this.#hashes;
    if (hashes === undefined) return after < 0 && this.#count === 1 && this.#onlyHash === hash ? 0 : -1;
    const slots = this.#slots;
    if (slots === undefined) {
      for (let line = after + 1; line < hashes.length; line += 1) if (hashes[line] === hash) return line;
      return -1;
    }
    const mask = slots.length - 1;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const line = (slots[at] ?? 0) - 1;
      if (line < 0) return -1;
      if (line > after && hashes[line] === hash) return line;
    }
  }

  #grow(hashes: readonly number[]): void {
    const slots = new Int32Array(Math.max(4 * FEW, 2 * (this.#slots?.length ?? 0)));
    for (let line = 0; line < hashes.length; line += 1) settle(slots, hashes[line] ?? 0, line + 1);
    this.#slots = slots;
  }
}

function settle(slots: Int32Array, hash: number, linePlusOne: number): void {
  const mask = slots.length - 1;
  let at = hash & mask;
  while (slots[at] !== 0) at = (at + 1) & mask;
  slots[at] = linePlusOne;
}
