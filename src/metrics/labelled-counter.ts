import { type Family, type JsonObject, OTHER } from './family.ts';
import { boundedId } from './label-value.ts';
import { enumLabelValue, labelValue, type ReportDrop, type Sample } from './samples.ts';

/** The largest number of series of one counter; beyond it every label without documented values is `other`. */
const MAX_SERIES = 50_000;

interface CounterLabel {
  readonly name: string;
  readonly read: (record: JsonObject) => string;
  readonly documented: readonly string[] | undefined;
  readonly zeros: boolean;
}

const COMBINATIONS = {
  sum: (first: number, second: number) => first + second,
  min: Math.min,
  max: Math.max,
} as const;

interface Entry {
  readonly labels: readonly string[];
  value: number;
}

/**
 * Combines a value of each record, by the labels of a family: their sum, or the least or greatest one. A sum without
 * labels, and one whose labels all have zeros, has its series from the start.
 */
export class LabelledCounter {
  readonly #name: string;
  readonly #labels: readonly CounterLabel[];
  readonly #combine: (first: number, second: number) => number;
  readonly #maxSeries: number;
  /** The series that begin with 0 beside that of a record: the documented values of labels with zeros. */
  readonly #zeros: readonly (readonly (string | undefined)[])[];
  readonly #entries = new Map<string, Entry>();

  constructor(
    { name: family, enumLabels = {}, fieldLabels = {} }: Family,
    combination: keyof typeof COMBINATIONS = 'sum',
    maxSeries = MAX_SERIES,
  ) {
    this.#name = family;
    this.#combine = COMBINATIONS[combination];
    this.#maxSeries = maxSeries;
    this.#labels = [
      ...Object.entries(enumLabels).map(([name, { field, documentedValues, zeros = false }]) => ({
        name,
        read: (record: JsonObject) => enumLabelValue(record[field]),
        documented: documentedValues?.map(enumLabelValue),
        zeros,
      })),
      ...Object.entries(fieldLabels).map(([name, field]) => ({
        name,
        read: (record: JsonObject) => labelValue(record[field]),
        documented: undefined,
        zeros: false,
      })),
    ];
    const hasZeros = this.#labels.length === 0 || this.#labels.some(({ zeros }) => zeros);
    this.#zeros = combination === 'sum' && hasZeros ? combinationsOf(this.#labels) : [];
    for (const labels of this.#zeros) if (isComplete(labels)) this.#put(labels, 0);
  }

  /** Reports a label that becomes `other` because there are too many series. */
  add(record: JsonObject, value: number, reportDrop: ReportDrop): void {
    this.addZeros(record);
    const labels = this.#labelsOf(record);
    if (this.#hasRoomFor(labels)) this.#put(labels, value);
    else {
      reportDrop('label', this.#name);
      const folded = labels.map((text, index) => (this.#labels[index]?.documented === undefined ? OTHER : text));
      this.#put(folded, value);
    }
  }

  /** Creates the series with 0 beside that of a record. */
  addZeros(record: JsonObject): void {
    const labels = this.#labelsOf(record);
    for (const zeros of this.#zeros) {
      const filled = zeros.map((zero, index) => zero ?? labels[index] ?? '');
      if (this.#hasRoomFor(filled)) this.#put(filled, 0);
    }
  }

  /** `common`: labels of every sample. */
  samples(common: Readonly<Record<string, string>> = {}): Sample[] {
    return [...this.#entries.values()].map(({ labels, value }) => {
      const own = Object.fromEntries(this.#labels.map(({ name }, index) => [name, labels[index] ?? '']));
      return { name: this.#name, labels: { ...common, ...own }, value };
    });
  }

  #labelsOf(record: JsonObject): readonly string[] {
    return this.#labels.map(({ read, documented }) => {
      const text = read(record);
      return documented === undefined || documented.includes(text) ? text : OTHER;
    });
  }

  #hasRoomFor(labels: readonly string[]): boolean {
    return this.#entries.size < this.#maxSeries || this.#entries.has(keyOf(labels));
  }

  #put(labels: readonly string[], value: number): void {
    const entry = this.#entries.get(keyOf(labels));
    if (entry === undefined) this.#entries.set(keyOf(labels), { labels, value });
    else entry.value = this.#combine(entry.value, value);
  }
}

/** Each combination of the documented values of labels with zeros; undefined for the other labels. */
function combinationsOf(labels: readonly CounterLabel[]): readonly (readonly (string | undefined)[])[] {
  let combinations: readonly (readonly (string | undefined)[])[] = [[]];
  for (const { zeros, documented = [] } of labels) {
    const values = zeros ? documented : [undefined];
    combinations = combinations.flatMap((labelled) => values.map((value) => [...labelled, value]));
  }
  return combinations;
}

function isComplete(labels: readonly (string | undefined)[]): labels is readonly string[] {
  return labels.every((label) => label !== undefined);
}

function keyOf(labels: readonly string[]): string {
  return boundedId(JSON.stringify(labels));
}
