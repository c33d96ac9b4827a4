import type { Labels } from '../metrics/family.ts';
import type { Sample } from '../metrics/samples.ts';
import { RequestError } from '../runtime/errors.ts';
import { fnv1a } from '../runtime/random.ts';
import type { Lines } from './block.ts';
import { FamilyLines } from './family-lines.ts';
import { type Corrections, formatValue } from './format.ts';
import { LabelTexts, mixed } from './label-texts.ts';

/** A task's lines by family, written but not exposed yet. */
export interface Prepared {
  readonly families: readonly Lines[];
  readonly corrected: Corrections;
}

/** How many lines to write between two yields: about 50 microseconds. */
const LINES_A_STEP = 32;

interface Name {
  readonly family: string;
  readonly bytes: number;
  readonly hash: number;
}

const NO_LABELS = { text: '', bytes: 0, hash: 0, check: 1, cut: 0 };

export class LineWriter {
  readonly #familyOf: (sampleName: string) => string;
  readonly #labels = new LabelTexts();
  readonly #names = new Map<string, Name>();

  /** `familyOf` returns the family of a sample's name; throws for an unknown name. */
  constructor(familyOf: (sampleName: string) => string) {
    this.#familyOf = familyOf;
  }

  /**
   * Writes samples by family. Of two with the same name and labels the later one counts: Prometheus would reject a scrape
   * with duplicates. Yields where it may be interrupted. Throws a RequestError `oversize` above `mostBytes`.
   */
  *write(samples: Iterable<Sample>, mostBytes: number): Generator<void, Prepared> {
    const corrected: Corrections = { cut: 0, duplicates: 0 };
    const families = new Map<string, FamilyLines>();
    let last: Labels | undefined;
    let labels = NO_LABELS;
    let family = '';
    let lines: FamilyLines | undefined;
    let written = 0;
    let bytes = 0;
    for (const sample of samples) {
      const name = this.#nameOf(sample.name);
      // A histogram's sum and count share their labels.
      if (sample.labels !== last) {
        last = sample.labels;
        labels = this.#textOf(last);
      }
      corrected.cut += labels.cut;
      if (lines === undefined || name.family !== family) {
        family = name.family;
        lines = families.get(family) ?? new FamilyLines(family);
        families.set(family, lines);
      }
      const series = sample.name + labels.text;
      const seriesBytes = name.bytes + labels.bytes;
      const value = formatValue(sample.value);
      bytes += seriesBytes + value.length + 2;
      if (bytes > mostBytes) throw tooLarge(mostBytes);
      lines.add(series, seriesBytes, value, wideHash(name, labels));
      written += 1;
      if (written % LINES_A_STEP === 0) yield;
    }
    const finished: Lines[] = [];
    for (const each of families.values()) {
      const made = each.hasRepeats ? yield* each.rewritten() : each.lines();
      corrected.duplicates += made.duplicates;
      finished.push(made);
    }
    return { families: finished, corrected };
  }

  #nameOf(name: string): Name {
    let known = this.#names.get(name);
    if (known === undefined) {
      known = { family: this.#familyOf(name), bytes: Buffer.byteLength(name), hash: fnv1a(name) };
      this.#names.set(name, known);
    }
    return known;
  }

  #textOf(labels: Labels): typeof NO_LABELS {
    let { text, hash, check, cut } = NO_LABELS;
    let bytes = 1;
    for (const name in labels) {
      const label = this.#labels.of(name, labels[name] ?? '');
      text = text === '' ? label.first : text + label.further;
      bytes += label.bytes;
      hash = mixed(hash, label.hash);
      check = mixed(check, label.hash);
      cut += label.cut;
    }
    return text === '' ? NO_LABELS : { text: `${text}}`, bytes, hash, check, cut };
  }
}

/** A number of 52 bits, never 0: with 32 bits, two of 100,000 series would often share one. */
function wideHash(name: Name, { hash, check }: typeof NO_LABELS): number {
  return (mixed(name.hash, hash) >>> 0) * 2 ** 20 + (mixed(name.hash, check) >>> 12) + 1;
}

function tooLarge(mostBytes: number): RequestError {
  const lines = `the lines would take more than the remaining ${mostBytes} bytes of memory`;
  return new RequestError(
    'oversize',
    `writing the samples: ${lines}; give the process more memory, or export fewer series`,
  );
}
