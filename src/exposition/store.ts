import type { Sample } from '../metrics/samples.ts';
import { runToEnd } from '../runtime/slices.ts';
import type { Corrections, FamilyHeader, Format } from './format.ts';
import { type LineBlock, type PreparedLines, writeLines } from './line-writer.ts';
import { ExpositionSnapshot } from './snapshot.ts';

const COUNTS: ReadonlySet<string> = new Set(['counter', 'histogram']);

/** The lines of one family, in the order of their tasks' ids: an appliance's lines stand together, and compress well. */
interface Family {
  readonly header: FamilyHeader;
  readonly lines: LineBlock[];
  /** The task of each. */
  readonly tasks: string[];
}

/**
 * The lines of every task, as texts, by family. New lines of a task are prepared first and then replace the previous ones
 * at once; a scrape only collects them (kube-state-metrics' `metrics_store` is the model).
 */
export class LineStore {
  readonly #families = new Map<string, Family>();
  readonly #familyOfSample = new Map<string, string>();
  readonly #tasks = new Map<string, readonly LineBlock[]>();
  readonly #moments = new Map<Format, ExpositionSnapshot>();
  #samples = 0;
  #bytes = 0;
  #version = 0;

  /** `families`: all that tasks may publish, in the order of the exposition. */
  constructor(families: readonly FamilyHeader[]) {
    for (const header of families) {
      this.#families.set(header.name, { header, lines: [], tasks: [] });
      for (const suffix of header.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) {
        this.#familyOfSample.set(header.name + suffix, header.name);
      }
    }
  }

  get samples(): number {
    return this.#samples;
  }

  /** The size of all lines, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Changes with every change of the lines. */
  get version(): number {
    return this.#version;
  }

  get tasks(): Iterable<string> {
    return this.#tasks.keys();
  }

  /**
   * Writes lines without exposing them; see {@link LineStore.replace}. Throws a RequestError `oversize` above
   * `maxBytes`.
   */
  prepare(samples: Iterable<Sample>, maxBytes = Number.POSITIVE_INFINITY): Generator<void, PreparedLines> {
    return writeLines(samples, (name) => this.#familyNameOf(name), maxBytes);
  }

  /** Replaces the task's samples synchronously. Returns what had to be corrected. */
  publish({ task, samples }: { readonly task: string; readonly samples: Iterable<Sample> }): Corrections {
    const { lines, corrected } = runToEnd(this.prepare(samples));
    this.replace(task, lines);
    return corrected;
  }

  /** Replaces the task's lines by prepared ones. */
  replace(task: string, lines: readonly LineBlock[]): void {
    const before = this.#tasks.get(task) ?? [];
    for (const name of new Set([...before, ...lines].map(({ family }) => family))) {
      const own = lines.filter(({ family }) => family === name);
      this.#put(task, name, own);
    }
    this.#tasks.set(task, lines);
    this.#version += 1;
    for (const moment of this.#moments.values()) moment.markReplaced();
    // Dropped at once, because they keep replaced lines alive.
    this.#moments.clear();
  }

  /** Removes a task's lines; with `keepsCounts` all but those of counters and histograms. */
  withdraw(task: string, keepsCounts = false): void {
    const before = this.#tasks.get(task);
    if (before === undefined) return;
    const kept = before.filter(({ family }) => keepsCounts && COUNTS.has(this.#familyOf(family).header.type));
    this.replace(task, kept);
    if (kept.length === 0) this.#tasks.delete(task);
  }

  /** All lines of now with their headers, without empty families; the same until the next change. */
  snapshot(format: Format): ExpositionSnapshot {
    const moment = this.#moments.get(format) ?? new ExpositionSnapshot(this.#written(), this.#bytes, format);
    this.#moments.set(format, moment);
    return moment;
  }

  render(format: Format): Buffer {
    return Buffer.concat(Array.from(this.snapshot(format).buffers(), (buffer) => Buffer.from(buffer)));
  }

  *#written(): Generator<Family> {
    for (const family of this.#families.values()) if (family.lines.length > 0) yield family;
  }

  #put(task: string, family: string, lines: readonly LineBlock[]): void {
    const { lines: all, tasks } = this.#familyOf(family);
    const at = placeOf(task, tasks);
    let before = 0;
    while (tasks[at + before] === task) before += 1;
    tasks.splice(at, before, ...lines.map(() => task));
    for (const { samples, bytes } of all.splice(at, before, ...lines)) {
      this.#samples -= samples;
      this.#bytes -= bytes;
    }
    for (const { samples, bytes } of lines) {
      this.#samples += samples;
      this.#bytes += bytes;
    }
  }

  #familyNameOf(sampleName: string): string {
    const family = this.#familyOfSample.get(sampleName);
    if (family === undefined) throw new TypeError(`publishing ${sampleName}: the catalogue does not declare it`);
    return family;
  }

  #familyOf(name: string): Family {
    const family = this.#families.get(name);
    if (family === undefined) throw new TypeError(`family ${name} is not in the catalogue`);
    return family;
  }
}

/** Where a task stands among sorted ones, or would stand. */
function placeOf(task: string, sorted: readonly string[]): number {
  let from = 0;
  let to = sorted.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((sorted[middle] ?? '') < task) from = middle + 1;
    else to = middle;
  }
  return from;
}
