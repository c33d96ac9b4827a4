import { OTHER } from './family.ts';
import { list, text } from './state-schema.ts';

/** The most distinct values of an open set of upstream words; further ones become `other`. */
const MOST_VALUES = 50;

const valuesSchema = list(text);

/** Limits an open set of label values: the first ones are kept, later ones become `other`. */
export class LabelLimit {
  readonly #most: number;
  readonly #values = new Set<string>();

  constructor(most = MOST_VALUES) {
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

  restore(saved: unknown): void {
    for (const value of valuesSchema.read(saved)) this.admit(value);
  }
}
