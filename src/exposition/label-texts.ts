import { fnv1a } from '../runtime/random.ts';
import { cleanLabel } from './format.ts';

/** A label as text. */
export interface LabelText {
  /** `{name="value"`: the first label of a line. */
  readonly first: string;
  /** `,name="value"`: any other label. */
  readonly further: string;
  /** The size of either. */
  readonly bytes: number;
  readonly hash: number;
  /** 1 if the value had to be cut. */
  readonly cut: number;
}

/** Cached values per label. At the limit all are dropped: values that occur once do not come again. */
const REMEMBERED = 2_048;

/** Caches labels as text: each value is escaped, measured and hashed once, not once a line. */
export class LabelTexts {
  readonly #labels = new Map<string, LabelValues>();

  of(name: string, value: string): LabelText {
    let values = this.#labels.get(name);
    if (values === undefined) {
      values = new LabelValues(name);
      this.#labels.set(name, values);
    }
    return values.of(value);
  }
}

/** One label's values as text. */
class LabelValues {
  readonly #name: string;
  readonly #texts = new Map<string, LabelText>();
  #value: string | undefined;
  #text: LabelText | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  of(value: string): LabelText {
    // Neighbouring samples share most of their labels.
    if (this.#text !== undefined && value === this.#value) return this.#text;
    let text = this.#texts.get(value);
    if (text === undefined) {
      if (this.#texts.size >= REMEMBERED) this.#texts.clear();
      text = made(this.#name, value);
      this.#texts.set(value, text);
    }
    this.#value = value;
    this.#text = text;
    return text;
  }
}

function made(name: string, value: string): LabelText {
  const corrected = { cut: 0, duplicates: 0 };
  const text = `${name}="${cleanLabel(value, corrected)}"`;
  const bytes = Buffer.byteLength(text) + 1;
  return { first: `{${text}`, further: `,${text}`, bytes, hash: fnv1a(text), cut: corrected.cut };
}

/** Combines two hashes; the order matters. */
export function mixed(hash: number, next: number): number {
  const turned = (hash << 5) | (hash >>> 27);
  const product = Math.imul(turned ^ next, 0x9e3779b1);
  return product ^ (product >>> 15);
}
