import { type Family, type JsonObject, OTHER } from './family.ts';
import { LabelValueLimit } from './label-limit.ts';
import { boundedId } from './label-value.ts';
import { enumLabelValue, labelValue, type Sample } from './samples.ts';

/** The largest number of series of one counter; beyond it every open label is `other`. */
const MAX_SERIES = 5_000;

/** One label: with its documented values and `other`, or an open set that is limited in number. */
interface CounterLabel {
  readonly name: string;
  readonly known: readonly string[] | undefined;
  readonly read: (record: JsonObject) => string;
  readonly admit: (value: string) => string;
}

interface Entry {
  readonly values: readonly string[];
  count: number;
}

/**
 * Counts records by the labels of a family, with a bounded number of series for any label values. If the family
 * has no label, or its only label has documented values, every series exists from the start.
 */
export class LabelledCounter {
  readonly #name: string;
  readonly #labels: readonly CounterLabel[];
  readonly #maxSeries: number;
  readonly #entries = new Map<string, Entry>();

  constructor({ name: family, enumLabels = {}, fieldLabels = {} }: Family, maxSeries = MAX_SERIES) {
    this.#name = family;
    this.#labels = [
      ...Object.entries(enumLabels).map(([name, { field, documentedValues }]) =>
        labelOf(name, (record) => enumLabelValue(record[field]), documentedValues?.map(enumLabelValue)),
      ),
      ...Object.entries(fieldLabels).map(([name, field]) => labelOf(name, (record) => labelValue(record[field]))),
    ];
    this.#maxSeries = maxSeries;
    const [only, ...others] = this.#labels;
    if (only === undefined) this.#count([], 0);
    if (only?.known !== undefined && others.length === 0) {
      for (const word of [...only.known, OTHER]) this.#count([word], 0);
    }
  }

  /** Adds `by` to the series of a record; 0 creates the series. */
  add(record: JsonObject, by = 1): void {
    this.#count(
      this.#labels.map(({ read }) => read(record)),
      by,
    );
  }

  samples(): Sample[] {
    return [...this.#entries.values()].map(({ values, count }) => ({
      name: this.#name,
      labels: Object.fromEntries(this.#labels.map(({ name }, index) => [name, values[index] ?? ''])),
      value: count,
    }));
  }

  /** `values`: in the order of the labels. */
  #count(values: readonly string[], by: number): void {
    let counted: readonly string[] = this.#labels.map(({ admit }, index) => admit(values[index] ?? ''));
    if (this.#entries.size >= this.#maxSeries && !this.#entries.has(keyOf(counted))) counted = this.#folded(counted);
    const key = keyOf(counted);
    const entry = this.#entries.get(key) ?? { values: counted, count: 0 };
    entry.count += by;
    this.#entries.set(key, entry);
  }

  #folded(values: readonly string[]): readonly string[] {
    return values.map((value, index) => (this.#labels[index]?.known === undefined ? OTHER : value));
  }
}

function keyOf(values: readonly string[]): string {
  return boundedId(JSON.stringify(values));
}

function labelOf(name: string, read: CounterLabel['read'], known?: readonly string[]): CounterLabel {
  const limit = new LabelValueLimit();
  const wordOrOther = (word: string) => (known?.includes(word) ? word : OTHER);
  return { name, known, read, admit: known === undefined ? (value) => limit.admit(value) : wordOrOther };
}
