/** The place of each item, as a Map or a LargeMap has them. */
type Places<Item> = Pick<Map<Item, number>, 'get'> & {
  set(item: Item, place: number): void;
  delete(item: Item): void;
};

/** Items ordered by a key; each has one place, which can be found, moved and removed in logarithmic time. */
export class Heap<Item> {
  readonly #entries: { readonly item: Item; readonly key: number }[] = [];
  readonly #places: Places<Item>;

  /** `places` is empty; it belongs to the heap. */
  constructor(places: Places<Item> = new Map()) {
    this.#places = places;
  }

  get first(): Item | undefined {
    return this.#entries[0]?.item;
  }

  /** Infinite if the heap is empty. */
  get firstKey(): number {
    return this.#entries[0]?.key ?? Number.POSITIVE_INFINITY;
  }

  keyOf(item: Item): number | undefined {
    const place = this.#places.get(item);
    return place === undefined ? undefined : this.#entries[place]?.key;
  }

  /** Adds the item, or moves it. */
  set(item: Item, key: number): void {
    const place = this.#places.get(item) ?? this.#entries.length;
    this.#settle(place, { item, key });
  }

  delete(item: Item): void {
    const place = this.#places.get(item);
    if (place === undefined) return;
    this.#places.delete(item);
    const last = this.#entries.pop();
    if (last !== undefined && place < this.#entries.length) this.#settle(place, last);
  }

  /** Moves an entry from this place up, or else down, to where it belongs. */
  #settle(from: number, entry: { readonly item: Item; readonly key: number }): void {
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = this.#entries[parent];
      if (above === undefined || entry.key >= above.key) break;
      this.#put(place, above);
      place = parent;
    }
    for (;;) {
      let child = 2 * place + 1;
      const [left, right] = [this.#entries[child], this.#entries[child + 1]];
      if (left === undefined) break;
      const isRight = right !== undefined && right.key < left.key;
      const below = isRight ? right : left;
      if (isRight) child += 1;
      if (below.key >= entry.key) break;
      this.#put(place, below);
      place = child;
    }
    this.#put(place, entry);
  }

  #put(place: number, entry: { readonly item: Item; readonly key: number }): void {
    this.#entries[place] = entry;
    this.#places.set(entry.item, place);
  }
}
