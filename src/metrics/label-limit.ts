import { OTHER } from './family.ts';
import { keptText } from './restored-values.ts';

/** How many distinct values an open set of upstream words may bring before the rest are called `other`. */
const MOST_VALUES = 50;

/** Keeps an open set of label values bounded: the first ones stand for themselves, all later ones are `other`. */
export class LabelCap {
  readonly #most: number;
  readonly #values = new Set<string>();

  /** `most`: how many values stand for themselves. */
  constructor(most = MOST_VALUES) {
    this.#most = most;
  }

  /** The value, or `other` when there is no room for one more. */
  admit(value: string): string {
    if (this.#values.has(value)) return value;
    if (this.#values.size >= this.#most) return OTHER;
    this.#values.add(value);
    return value;
  }

  /** The values that stand for themselves, for {@link LabelCap.restore}. */
  state(): readonly string[] {
    return [...this.#values];
  }

  /** Lets these stand for themselves. */
  restore(saved: readonly string[]): void {
    for (const value of saved) this.admit(keptText(value));
  }
}
