import type { Snapshot } from '../metrics/snapshot.ts';
import { type FamilyHeader, type Format, headerLines, type Mended, writeLines } from './text.ts';

/** One task's lines of one family, written once. */
interface Chunk {
  readonly bytes: Buffer;
  readonly samples: number;
}

/** What the store holds of a task. */
interface Entry {
  readonly families: readonly string[];
  readonly samples: number;
}

/** One moment of the store, as buffers that nobody changes any more. */
export interface Moment {
  readonly buffers: readonly Buffer[];
}

/**
 * The lines of every task, as bytes, family by family. A snapshot becomes bytes when it is published and replaces the
 * task's last one whole; a scrape only gathers what is there (kube-state-metrics' `metrics_store` is the model).
 */
export class ChunkStore {
  readonly #families: ReadonlyMap<string, FamilyHeader>;
  readonly #familyOfSample = new Map<string, string>();
  readonly #headers: Readonly<Record<Format, ReadonlyMap<string, Buffer>>>;
  readonly #chunks = new Map<string, Map<string, Chunk>>();
  readonly #tasks = new Map<string, Entry>();
  #samples = 0;

  /** `families`: every family that tasks may publish, in the order of the exposition. */
  constructor(families: readonly FamilyHeader[]) {
    this.#families = new Map(families.map((family) => [family.name, family]));
    for (const { name, type } of families) {
      this.#chunks.set(name, new Map());
      for (const suffix of type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) {
        this.#familyOfSample.set(name + suffix, name);
      }
    }
    const headers = (format: Format) =>
      new Map(families.map((family) => [family.name, Buffer.from(headerLines(family, format))]));
    this.#headers = { text: headers('text'), openmetrics: headers('openmetrics') };
  }

  /** How many samples a scrape would get now. */
  get samples(): number {
    return this.#samples;
  }

  /** The tasks that have a snapshot here. */
  get tasks(): Iterable<string> {
    return this.#tasks.keys();
  }

  /** How many chunks are held, over all families; grows with tasks and not with time. */
  get chunks(): number {
    let count = 0;
    for (const chunks of this.#chunks.values()) count += chunks.size;
    return count;
  }

  /** Writes a snapshot's lines and puts them in the place of the task's last ones. Returns what had to be mended. */
  publish(snapshot: Snapshot): Mended {
    const mended: Mended = { cut: 0, duplicates: 0 };
    const groups = writeLines(snapshot.samples, (name) => this.#familyOf(name), mended);
    const before = this.#tasks.get(snapshot.task);
    let samples = 0;
    for (const [family, lines] of groups) {
      let text = '';
      for (const [series, value] of lines) text += `${series} ${value}\n`;
      this.#chunksOf(family).set(snapshot.task, { bytes: Buffer.from(text), samples: lines.size });
      samples += lines.size;
    }
    for (const family of before?.families ?? []) {
      if (!groups.has(family)) this.#chunksOf(family).delete(snapshot.task);
    }
    this.#tasks.set(snapshot.task, { families: [...groups.keys()], samples });
    this.#samples += samples - (before?.samples ?? 0);
    return mended;
  }

  /** Takes a task's lines out, if there are any. */
  withdraw(task: string): void {
    const entry = this.#tasks.get(task);
    if (entry === undefined) return;
    for (const family of entry.families) this.#chunksOf(family).delete(task);
    this.#tasks.delete(task);
    this.#samples -= entry.samples;
  }

  /** What there is now: each family's header and its chunks, never split, families without samples left out. */
  moment(format: Format): Moment {
    const buffers: Buffer[] = [];
    for (const name of this.#families.keys()) {
      const chunks = this.#chunksOf(name);
      const header = this.#headers[format].get(name);
      if (chunks.size === 0 || header === undefined) continue;
      buffers.push(header);
      for (const chunk of chunks.values()) buffers.push(chunk.bytes);
    }
    return { buffers };
  }

  #familyOf(sampleName: string): string {
    const family = this.#familyOfSample.get(sampleName);
    if (family === undefined) throw new TypeError(`publishing ${sampleName}: no row of the catalogue declares it`);
    return family;
  }

  #chunksOf(family: string): Map<string, Chunk> {
    const chunks = this.#chunks.get(family);
    if (chunks === undefined) throw new TypeError(`family ${family} is not in the catalogue`);
    return chunks;
  }
}
