/** A binary heap: the item that is due first comes first. */
export class Heap<Item extends { readonly due: number }> {
  readonly #items: Item[] = [];

  get first(): Item | undefined {
    return this.#items[0];
  }

  push(item: Item): void {
    const items = this.#items;
    let index = items.length;
    items.push(item);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = items[parent];
      if (above === undefined || above.due <= item.due) break;
      items[index] = above;
      index = parent;
    }
    items[index] = item;
  }

  pop(): Item | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (top === undefined || last === undefined || items.length === 0) return top;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      const right = items[child + 1];
      if (right !== undefined && right.due < (items[child]?.due ?? 0)) child += 1;
      const below = items[child];
      if (below === undefined || below.due >= last.due) break;
      items[index] = below;
      index = child;
    }
    items[index] = last;
    return top;
  }
}
