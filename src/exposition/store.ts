import type { Sample } from '../metrics/samples.ts';
import { atOnce } from '../runtime/slices.ts';
import type { Block, Stored } from './block.ts';
import { ChangedBlocks, FamilyBlocks } from './blocks.ts';
import { BufferMemory } from './buffer-memory.ts';
import { type Coding, type Compressed, codec, joinSmall, type Piece } from './compression.ts';
import { type Corrections, type FamilyHeader, type Format, headerLines } from './format.ts';
import { LineWriter, type Prepared } from './line-writer.ts';

interface Family {
  readonly name: string;
  /** Whether it is a counter or a histogram. */
  readonly isCount: boolean;
  readonly blocks: FamilyBlocks;
  readonly headers: Readonly<Record<Format, Buffer>>;
  readonly compressed: Map<string, Compressed>;
}

const COUNTS: ReadonlySet<string> = new Set(['counter', 'histogram']);

/** Cached lists of families: tasks leave out values in many combinations. */
const MOST_LISTS = 1_000;

/** A task's lines by family. */
interface Entry {
  readonly families: readonly Family[];
  readonly stored: Stored[];
  samples: number;
  bytes: number;
  /** Of those, what is in counters and histograms. */
  counts: Size;
}

interface Size {
  readonly samples: number;
  readonly bytes: number;
}

const NOTHING: Size = { samples: 0, bytes: 0 };

/**
 * The lines of every task, as bytes, by family. New lines of a task are prepared first and then replace the previous ones
 * at once; a scrape only collects them (kube-state-metrics' `metrics_store` is the model).
 */
export class LineStore {
  /** Readers of the store's buffers hold it. */
  readonly memory = new BufferMemory();
  readonly #changed = new ChangedBlocks(this.memory);
  readonly #families = new Map<string, Family>();
  readonly #familyOfSample = new Map<string, string>();
  readonly #writer = new LineWriter((name) => this.#familyNameOf(name));
  readonly #tasks = new Map<string, Entry>();
  readonly #pieces = new Map<string, readonly Piece[]>();
  readonly #lists = new Map<string, readonly Family[]>();
  #samples = 0;
  #bytes = 0;
  #version = 0;

  /** `families`: all that tasks may publish, in the order of the exposition. */
  constructor(families: readonly FamilyHeader[]) {
    for (const family of families) {
      const headers = {
        text: Buffer.from(headerLines(family, 'text')),
        openmetrics: Buffer.from(headerLines(family, 'openmetrics')),
      };
      const blocks = new FamilyBlocks(this.#changed, this.memory);
      this.#families.set(family.name, {
        name: family.name,
        isCount: COUNTS.has(family.type),
        blocks,
        headers,
        compressed: new Map(),
      });
      for (const suffix of family.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) {
        this.#familyOfSample.set(family.name + suffix, family.name);
      }
    }
  }

  get samples(): number {
    return this.#samples;
  }

  /** The size of all lines, uncompressed. */
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

  *blocks(): Generator<Block> {
    for (const { blocks } of this.#families.values()) yield* blocks.blocks;
  }

  /** Blocks that have changed since they were compressed; the longest waiting first. */
  get uncompressed(): Set<Block> {
    return this.#changed.uncompressed;
  }

  /** Marks every block as not compressed. */
  recompress(): void {
    for (const block of this.blocks()) this.uncompressed.add(block);
  }

  /**
   * Writes lines without exposing them; see {@link LineStore.replace}. Throws a RequestError `oversize` above
   * `mostBytes`.
   */
  prepare(samples: Iterable<Sample>, mostBytes = Number.POSITIVE_INFINITY): Generator<void, Prepared> {
    return this.#writer.write(samples, mostBytes);
  }

  /** Replaces the task's samples synchronously. Returns what had to be corrected. */
  publish({ task, samples }: { readonly task: string; readonly samples: Iterable<Sample> }): Corrections {
    return this.replace(task, atOnce(this.prepare(samples)));
  }

  /** Replaces the task's lines. Returns what had to be corrected. */
  replace(task: string, prepared: Prepared): Corrections {
    const before = this.#tasks.get(task);
    const families = this.#familiesOf(prepared, before);
    this.#samples += prepared.lines - (before?.samples ?? 0);
    this.#bytes += prepared.bytes - (before?.bytes ?? 0);
    if (before?.families === families) {
      // The usual case: no new objects, because they would be promoted to the old generation.
      before.samples = prepared.lines;
      before.bytes = prepared.bytes;
      before.counts = countsOf(families, prepared);
      for (let index = 0; index < families.length; index += 1) {
        const lines = prepared.families[index];
        const stored = lines && families[index]?.blocks.put(lines, before.stored[index]);
        if (stored !== undefined) before.stored[index] = stored;
      }
    } else this.#tasks.set(task, this.#replaced(before, families, prepared));
    this.#changed.join();
    this.#change();
    return prepared.corrected;
  }

  /** Removes a task's lines; with `keepsCounts` all but those of counters and histograms. */
  withdraw(task: string, keepsCounts = false): void {
    const entry = this.#tasks.get(task);
    if (entry === undefined) return;
    const kept: { families: Family[]; stored: Stored[] } = { families: [], stored: [] };
    for (const [index, stored] of entry.stored.entries()) {
      const family = entry.families[index];
      if (family === undefined) continue;
      if (keepsCounts && family.isCount) {
        kept.families.push(family);
        kept.stored.push(stored);
      } else family.blocks.remove(stored);
    }
    const { samples, bytes } = kept.stored.length === 0 ? NOTHING : entry.counts;
    if (kept.stored.length === 0) this.#tasks.delete(task);
    else this.#tasks.set(task, { ...kept, samples, bytes, counts: entry.counts });
    this.#samples -= entry.samples - samples;
    this.#bytes -= entry.bytes - bytes;
    this.#change();
  }

  /**
   * One moment of all lines with their headers, without empty families. In a coding, blocks that are not compressed yet
   * are plain. Cached until the next change.
   */
  pieces(format: Format, coding: Coding | undefined): readonly Piece[] {
    const key = `${coding} ${format}`;
    const pieces = this.#pieces.get(key) ?? joinSmall(this.#piecesOf(format, coding));
    this.#pieces.set(key, pieces);
    return pieces;
  }

  whole(format: Format): Buffer {
    return Buffer.concat(this.pieces(format, undefined).filter((piece) => Buffer.isBuffer(piece)));
  }

  /** To be called when blocks have been compressed. */
  recompressed(): void {
    this.#pieces.clear();
  }

  *#piecesOf(format: Format, coding: Coding | undefined): Generator<Piece> {
    for (const family of this.#families.values()) {
      if (family.blocks.tasks === 0) continue;
      yield coding === undefined ? family.headers[format] : compressedHeader(family, format, coding);
      for (const block of family.blocks.blocks) {
        yield (coding && block.compressed(coding)) ?? block.lines(this.memory);
      }
    }
  }

  #change(): void {
    this.#version += 1;
    // Dropped at once, because they would keep replaced lines alive.
    this.#pieces.clear();
  }

  #familyNameOf(sampleName: string): string {
    const family = this.#familyOfSample.get(sampleName);
    if (family === undefined) throw new TypeError(`publishing ${sampleName}: the catalogue does not declare it`);
    return family;
  }

  /** The entry of a new task, or of one whose families have changed. */
  #replaced(before: Entry | undefined, families: readonly Family[], prepared: Prepared): Entry {
    const stored = prepared.families.map((lines) => {
      const family = this.#familyOf(lines.family);
      return family.blocks.put(lines, before?.stored[before.families.indexOf(family)]);
    });
    for (const [index, last] of before?.stored.entries() ?? []) {
      const family = before?.families[index];
      if (family !== undefined && !families.includes(family)) family.blocks.remove(last);
    }
    return { families, stored, samples: prepared.lines, bytes: prepared.bytes, counts: countsOf(families, prepared) };
  }

  /** A list shared by all tasks with the same families: there are as many lists as series, not as tasks. */
  #familiesOf({ families: written }: Prepared, before: Entry | undefined): readonly Family[] {
    if (
      before?.families.length === written.length &&
      written.every(({ family }, index) => before.families[index]?.name === family)
    ) {
      return before.families;
    }
    const key = written.map(({ family }) => family).join(' ');
    let families = this.#lists.get(key);
    if (families === undefined) {
      families = written.map(({ family }) => this.#familyOf(family));
      if (this.#lists.size >= MOST_LISTS) this.#lists.clear();
      this.#lists.set(key, families);
    }
    return families;
  }

  #familyOf(name: string): Family {
    const family = this.#families.get(name);
    if (family === undefined) throw new TypeError(`family ${name} is not in the catalogue`);
    return family;
  }
}

function countsOf(families: readonly Family[], { families: written }: Prepared): Size {
  if (!families.some(({ isCount }) => isCount)) return NOTHING;
  const counts = written.filter((_, index) => families[index]?.isCount);
  return {
    samples: counts.reduce((sum, lines) => sum + lines.samples, 0),
    bytes: counts.reduce((sum, lines) => lines.blocks.reduce((all, block) => all + block.bytes, sum + lines.bytes), 0),
  };
}

function compressedHeader({ headers, compressed }: Family, format: Format, coding: Coding): Compressed {
  const key = `${coding} ${format}`;
  const known = compressed.get(key) ?? codec.compressNow(coding, headers[format]);
  compressed.set(key, known);
  return known;
}
