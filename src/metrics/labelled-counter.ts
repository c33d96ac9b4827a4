import { type Family, type JsonObject, type Labels, OTHER } from './family.ts';
import { boundedId } from './label-value.ts';
import { enumLabelValue, type ReportDrop, type Sample, textLabels } from './samples.ts';

/** The largest number of series of one counter; beyond it every label without documented values is `other`. */
const MAX_SERIES = 50_000;

type Combine = (first: number, second: number) => number;

const sum: Combine = (first, second) => first + second;

/**
 * Combines a value of each record, by the labels of a family: their sum, or the least or greatest one. A sum without
 * labels, and one whose labels all have zeros, has its series from the start.
 */
export class LabelledCounter {
  readonly #family: Family;
  readonly #combine: Combine;
  readonly #maxSeries: number;
  /** The documented values by label, as labels. */
  readonly #documented = new Map<string, readonly string[]>();
  /** What the series that begin with 0 beside that of a record have instead of its labels. */
  readonly #zeros: readonly Labels[];
  readonly #series = new Map<string, { readonly labels: Labels; value: number }>();

  constructor(family: Family, combine = sum, maxSeries = MAX_SERIES) {
    this.#family = family;
    this.#combine = combine;
    this.#maxSeries = maxSeries;
    const { enumLabels = {}, fieldLabels = {} } = family;
    for (const [name, { documentedValues }] of Object.entries(enumLabels))
      if (documentedValues !== undefined) this.#documented.set(name, documentedValues.map(enumLabelValue));
    const withZeros = Object.keys(enumLabels).filter((name) => enumLabels[name]?.zeros);
    const others = Object.keys({ ...enumLabels, ...fieldLabels }).length - withZeros.length;
    this.#zeros = combine === sum && (withZeros.length > 0 || others === 0) ? this.#combinationsOf(withZeros) : [];
    if (others === 0) for (const labels of this.#zeros) this.#put(labels, 0);
  }

  /** Reports a label that becomes `other` because there are too many series. */
  add(record: JsonObject, value: number, reportDrop: ReportDrop): void {
    this.addZeros(record);
    const labels = this.#labelsOf(record);
    if (this.#hasRoomFor(labels)) this.#put(labels, value);
    else {
      reportDrop('label', this.#family.name);
      const folded = Object.entries(labels).map(([name, text]) => [name, this.#documented.has(name) ? text : OTHER]);
      this.#put(Object.fromEntries(folded), value);
    }
  }

  /** Creates the series with 0 beside that of a record. */
  addZeros(record: JsonObject): void {
    const own = this.#labelsOf(record);
    for (const zeros of this.#zeros) {
      const labels = { ...own, ...zeros };
      if (this.#hasRoomFor(labels)) this.#put(labels, 0);
    }
  }

  /** `common`: labels of every sample. */
  samples(common: Labels = {}): Sample[] {
    return Array.from(this.#series.values(), ({ labels, value }) => {
      return { name: this.#family.name, labels: { ...common, ...labels }, value };
    });
  }

  #labelsOf(record: JsonObject): Labels {
    const labels = textLabels(this.#family, record);
    for (const [name, values] of this.#documented) if (!values.includes(labels[name] ?? '')) labels[name] = OTHER;
    return labels;
  }

  /** Each combination of the documented values of some labels. */
  #combinationsOf(names: readonly string[]): readonly Labels[] {
    let combinations: readonly Labels[] = [{}];
    for (const name of names) {
      const values = this.#documented.get(name) ?? [];
      combinations = combinations.flatMap((labels) => values.map((value) => ({ ...labels, [name]: value })));
    }
    return combinations;
  }

  #hasRoomFor(labels: Labels): boolean {
    return this.#series.size < this.#maxSeries || this.#series.has(keyOf(labels));
  }

  #put(labels: Labels, value: number): void {
    const series = this.#series.get(keyOf(labels));
    if (series === undefined) this.#series.set(keyOf(labels), { labels, value });
    else series.value = this.#combine(series.value, value);
  }
}

function keyOf(labels: Labels): string {
  return boundedId(JSON.stringify(labels));
}
