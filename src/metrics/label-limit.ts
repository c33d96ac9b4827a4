import { OTHER } from './family.ts';

/** The largest number of values of a label that the service chooses freely; any other value becomes `other`. */
const MAX_VALUES = 50;

/** Limits an open set of label values: the first ones are kept, later ones become `other`. */
export class LabelValueLimit {
  readonly #most: number;
  /** Keeps the first string of each value, so that equal values share memory. */
  readonly #values = new Map<string, string>();

  constructor(most = MAX_VALUES) {
    this.#most = most;
  }

  admit(value: string): string {
    const known = this.#values.get(value);
    if (known !== undefined) return known;
    if (this.#values.size >= this.#most) return OTHER;
    this.#values.set(value, value);
    return value;
  }

  state(): readonly string[] {
    return [...this.#values.keys()];
  }

  restore(saved: readonly string[]): void {
    for (const value of saved) this.admit(value);
  }
}
