import type { Random } from '../../src/runtime/random.ts';

/** Draws from a source of numbers. */
export class Chance {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  happens(often: number): boolean {
    return this.#random() < often;
  }

  /** A whole number; both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.#random() * (most - least + 1));
  }

  one<Item>(items: readonly Item[]): Item {
    return items[this.between(0, items.length - 1)] as Item;
  }

  shuffled<Item>(items: readonly Item[]): Item[] {
    const keyed = items.map((item) => [this.#random(), item] as const);
    return keyed.sort(([one], [other]) => one - other).map(([, item]) => item);
  }

  /** One of them, half of them or nearly all. */
  part<Item>(items: readonly Item[]): readonly Item[] {
    const size = this.one([1, Math.ceil(items.length / 2), Math.ceil((5 * items.length) / 6)]);
    return this.shuffled(items).slice(0, size);
  }
}
