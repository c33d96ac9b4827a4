/** A binary heap: the item with the smallest key comes first. */
export class Heap<Item> {
  readonly #items: { readonly key: number; readonly item: Item }[] = [];

  get size(): number {
    return this.#items.length;
  }

  /** The smallest key; undefined when empty. */
  get firstKey(): number | undefined {
    return this.#items[0]?.key;
  }

  /** The item with the smallest key, without removing it. */
  get first(): Item | undefined {
    return this.#items[0]?.item;
  }

  push(key: number, item: Item): void {
    const items = this.#items;
    let index = items.length;
    const entry = { key, item };
    items.push(entry);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = items[parent];
      if (above === undefined || above.key <= key) break;
      items[index] = above;
      index = parent;
    }
    items[index] = entry;
  }

  pop(): Item | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (top === undefined || last === undefined || items.length === 0) return top?.item;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      const right = items[child + 1];
      if (right !== undefined && right.key < (items[child]?.key ?? 0)) child += 1;
      const below = items[child];
      if (below === undefined || below.key >= last.key) break;
      items[index] = below;
      index = child;
    }
    items[index] = last;
    return top.item;
  }
}
