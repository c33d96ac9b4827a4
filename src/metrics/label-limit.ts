import { OTHER } from './family.ts';

/** The most distinct values of an open set of upstream words; further ones become `other`. */
const MAX_VALUES = 50;

/** Limits an open set of label values: the first ones are kept, later ones become `other`. */
export class LabelValueLimit {
  readonly #most: number;
  readonly #values = new Set<string>();

  constructor(most = MAX_VALUES) {
    this.#most = most;
  }

  admit(value: string): string {
    if (this.#values.has(value)) return value;
    if (this.#values.size >= this.#most) return OTHER;
    this.#values.add(value);
    return value;
  }

  state(): readonly string[] {
    return [...this.#values];
  }

  restore(saved: readonly string[]): void {
    for (const value of saved) this.admit(value);
  }
}
