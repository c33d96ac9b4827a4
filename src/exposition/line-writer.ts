import type { Labels } from '../metrics/family.ts';
import type { Sample } from '../metrics/samples.ts';
import { RequestError } from '../runtime/errors.ts';
import type { Lines } from './block.ts';
import { FamilyLines } from './family-lines.ts';
import { type Corrections, formatValue } from './format.ts';
import { hashOf, LabelTexts, mixed } from './label-texts.ts';

/** A task's lines by family, written but not exposed yet. */
export class Prepared {
  readonly families: readonly Lines[];
  readonly corrected: Corrections;
  readonly lines: number;
  /** An upper bound of their size; exact without replaced values. */
  readonly bytes: number;

  constructor(families: readonly Lines[], corrected: Corrections, bytes: number) {
    this.families = families;
    this.corrected = corrected;
    this.bytes = bytes;
    let lines = 0;
    for (const { samples } of families) lines += samples;
    this.lines = lines;
  }
}

/** How many lines to write between two yields: about 50 microseconds. */
const LINES_A_STEP = 32;

interface Name {
  readonly family: string;
  readonly bytes: number;
  readonly hash: number;
}

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
      const hash = mixed(name.hash, labels.hash);
      const value = formatValue(sample.value);
      bytes += name.bytes + labels.bytes + value.length + 2;
      if (bytes > mostBytes) throw tooLarge(mostBytes);
      const isNew = lines.add(sample.name, labels.text, name.bytes + labels.bytes, hash, value);
      if (!isNew) corrected.duplicates += 1;
      written += 1;
      if (written % LINES_A_STEP === 0) yield;
    }
    const finished: Lines[] = [];
    for (const each of families.values()) finished.push(yield* each.finish());
    return new Prepared(finished, corrected, bytes);
  }

  #nameOf(name: string): Name {
    let known = this.#names.get(name);
    if (known === undefined) {
      known = { family: this.#familyOf(name), bytes: Buffer.byteLength(name), hash: hashOf(name) };
      this.#names.set(name, known);
    }
    return known;
  }

  #textOf(labels: Labels): typeof NO_LABELS {
    let text = '';
    let bytes = 1;
    let hash = 0;
    let cut = 0;
    for (const name in labels) {
      const label = this.#labels.of(name, labels[name] ?? '');
      text = text === '' ? label.first : text + label.further;
      bytes += label.bytes;
      hash = mixed(hash, label.hash);
      cut += label.cut;
    }
    return text === '' ? NO_LABELS : { text: `${text}}`, bytes, hash, cut };
  }
}

function tooLarge(mostBytes: number): RequestError {
  const lines = `the lines would take more than the remaining ${mostBytes} bytes of memory`;
  return new RequestError(
    'oversize',
    `writing the samples: ${lines}; give the process more memory, or export fewer series`,
  );
}

const NO_LABELS = { text: '', bytes: 0, hash: 0, cut: 0 };
