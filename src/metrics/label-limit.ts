import { OTHER } from './family.ts';

/** The most distinct values of an open set of upstream words; further ones become `other`. */
const MAX_VALUES = 50;

/** Limits an open set of label values: the first ones are kept, later ones become `other`. */
export class LabelValueLimit {
  readonly #most: number;
  /** Each as it came first: texts that are kept are the same string. */
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
