import { OTHER } from './family.ts';
import { LabelLimit } from './label-limit.ts';
import { keptCount, keptList, keptText } from './restored-values.ts';
import type { Sample } from './samples.ts';

/**
 * One label of a {@link Tally}: its documented words, with `other` for the rest; or without them an open set, limited
 * in number.
 */
export interface TallyLabel {
  readonly name: string;
  readonly known?: readonly string[];
}

/** The most series of one tally; in further ones every open label is `other`. */
const MOST_SERIES = 5_000;

interface Entry {
  readonly values: readonly string[];
  count: number;
}

/** Counts things by a few labels, with a bounded number of series for any label values. */
export class Tally {
  readonly #labels: readonly { readonly name: string; readonly known?: readonly string[]; readonly cap: LabelLimit }[];
  readonly #mostSeries: number;
  readonly #entries = new Map<string, Entry>();

  constructor(labels: readonly TallyLabel[], mostSeries = MOST_SERIES) {
    this.#labels = labels.map((label) => ({ ...label, cap: new LabelLimit() }));
    this.#mostSeries = mostSeries;
  }

  /** Adds `by` to the series with these values, in the order of the labels; 0 creates the series. */
  add(values: readonly string[], by = 1): void {
    const admitted = this.#labels.map(({ known, cap }, index) => {
      const value = values[index] ?? '';
      if (known === undefined) return cap.admit(value);
      return known.includes(value) ? value : OTHER;
    });
    const entry = this.#entryOf(admitted) ?? this.#entryOf(this.#folded(admitted), true);
    if (entry !== undefined) entry.count += by;
  }

  samples(name: string): Sample[] {
    return [...this.#entries.values()].map(({ values, count }) => ({
      name,
      labels: Object.fromEntries(this.#labels.map((label, index) => [label.name, values[index] ?? ''])),
      value: count,
    }));
  }

  state(): TallyState {
    return [...this.#entries.values()].map(({ values, count }) => [values, count]);
  }

  /** Adds the counts of a saved tally. */
  restore(saved: TallyState): void {
    for (const [values, count] of saved) this.add(values, count);
  }

  #folded(values: readonly string[]): readonly string[] {
    return values.map((value, index) => (this.#labels[index]?.known === undefined ? OTHER : value));
  }

  #entryOf(values: readonly string[], always = false): Entry | undefined {
    const key = JSON.stringify(values);
    const known = this.#entries.get(key);
    if (known !== undefined || (!always && this.#entries.size >= this.#mostSeries)) return known;
    const entry: Entry = { values, count: 0 };
    this.#entries.set(key, entry);
    return entry;
  }
}

/** A tally's series, as saved in the state file. */
export type TallyState = readonly (readonly [values: readonly string[], count: number])[];

/** Checks a saved tally. Throws a TypeError if it is not one. */
export function keptTally(saved: unknown): TallyState {
  return keptList(saved).map((series) => {
    const [values, count] = keptList(series);
    return [keptList(values).map(keptText), keptCount(count)];
  });
}
