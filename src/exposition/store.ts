import type { Sample } from '../metrics/samples.ts';
import { nextTurn } from '../runtime/next-turn.ts';
import { firstNotBefore } from '../runtime/sorted.ts';
import type { ResponseBody } from './body.ts';
import type { Corrections, FamilyHeader, Format } from './format.ts';
import { type LineBlock, LineWriter } from './line-writer.ts';
import { takeSnapshot } from './snapshot.ts';

const COUNTING_TYPES: ReadonlySet<string> = new Set(['counter', 'histogram']);

/** The response of a large account has 100,000 samples and more; so many, and so many blocks of lines, take some 5 ms. */
const SAMPLES_PER_TURN = 1_000;
const BLOCKS_PER_TURN = 8;

/** The lines of one family, ordered by the ids of their tasks: the lines of an appliance stand together and compress well. */
interface Family {
  readonly header: FamilyHeader;
  readonly lines: LineBlock<Family>[];
  /** The task of each block of `lines`. */
  readonly tasks: string[];
}

/**
 * The lines of every task, by family: they are written when a response arrives, replace its previous lines in one step,
 * and are sent unchanged to every scrape (the model is the `metrics_store` of kube-state-metrics).
 */
export class LineStore {
  readonly #maxBytes: number;
  readonly #families: readonly Family[];
  readonly #familyOfSample = new Map<string, Family>();
  readonly #tasks = new Map<string, readonly LineBlock<Family>[]>();
  #samples = 0;
  #bytes = 0;
  #version = 0;

  /**
   * `families` are all families that tasks may publish, in the order of the exposition. `maxBytes` limits all lines
   * together, including those that are about to be replaced.
   */
  constructor(families: readonly FamilyHeader[], maxBytes = Number.POSITIVE_INFINITY) {
    this.#maxBytes = maxBytes;
    this.#families = families.map((header) => ({ header, lines: [], tasks: [] }));
    for (const family of this.#families) {
      const { name, type } = family.header;
      for (const suffix of type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) {
        this.#familyOfSample.set(name + suffix, family);
      }
    }
  }

  get samples(): number {
    return this.#samples;
  }

  /** A number that increases with every change of the lines. */
  get version(): number {
    return this.#version;
  }

  get tasks(): Iterable<string> {
    return this.#tasks.keys();
  }

  /**
   * Replaces the task's samples: writes the new lines, then exposes all of them at once. Resolves with the corrections. If
   * there is no memory for the lines, it rejects with a RequestError `oversize`, and the previous samples stay.
   */
  async accept(task: string, samples: Iterable<Sample>): Promise<Corrections> {
    const writer = new LineWriter((name) => this.#familyOf(name), Math.max(0, this.#maxBytes - this.#bytes));
    let written = 0;
    for (const sample of samples) {
      writer.add(sample);
      written += 1;
      if (written % SAMPLES_PER_TURN === 0) await nextTurn();
    }
    const lines: LineBlock<Family>[] = [];
    for (const block of writer.blocks()) {
      lines.push(block);
      if (lines.length % BLOCKS_PER_TURN === 0) await nextTurn();
    }
    // The copy has no spare capacity, which would be most of the memory of a small list.
    this.#replace(task, lines.slice());
    return writer.corrected;
  }

  /** Replaces the task's samples at once, for a task with few samples. */
  publish(task: string, samples: Iterable<Sample>): Corrections {
    const writer = new LineWriter((name) => this.#familyOf(name), Number.POSITIVE_INFINITY);
    for (const sample of samples) writer.add(sample);
    this.#replace(task, [...writer.blocks()]);
    return writer.corrected;
  }

  #replace(task: string, lines: readonly LineBlock<Family>[]): void {
    const before = this.#tasks.get(task) ?? [];
    for (const replaced of new Set([...before, ...lines].map(({ family }) => family))) {
      const written = lines.filter(({ family }) => family === replaced);
      this.#replaceIn(replaced, task, written);
    }
    this.#tasks.set(task, lines);
    this.#version += 1;
  }

  /** Removes a task's lines; with `keepsCounts` all but those of counters and histograms. */
  withdraw(task: string, keepsCounts = false): void {
    const before = this.#tasks.get(task);
    if (before === undefined) return;
    const kept = before.filter(({ family }) => keepsCounts && COUNTING_TYPES.has(family.header.type));
    this.#replace(task, kept);
    if (kept.length === 0) this.#tasks.delete(task);
  }

  /** Returns all present lines with their headers, without empty families. */
  snapshot(format: Format): ResponseBody {
    const families = this.#families.filter(({ lines }) => lines.length > 0);
    return takeSnapshot(families, this.#bytes, format);
  }

  #replaceIn({ lines: familyLines, tasks }: Family, task: string, lines: readonly LineBlock<Family>[]): void {
    const index = firstNotBefore(tasks, task);
    let count = 0;
    while (tasks[index + count] === task) count += 1;
    tasks.splice(index, count, ...lines.map(() => task));
    for (const { samples, bytes } of familyLines.splice(index, count, ...lines)) {
      this.#samples -= samples;
      this.#bytes -= bytes;
    }
    for (const { samples, bytes } of lines) {
      this.#samples += samples;
      this.#bytes += bytes;
    }
  }

  #familyOf(sampleName: string): Family {
    const family = this.#familyOfSample.get(sampleName);
    if (family === undefined) throw new TypeError(`cannot publish ${sampleName}: the catalogue does not declare it`);
    return family;
  }
}
