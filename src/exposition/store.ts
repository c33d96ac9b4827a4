import type { Sample } from '../metrics/samples.ts';
import { atOnce } from '../runtime/slices.ts';
import type { Block, Lines, Stored } from './block.ts';
import { FamilyBlocks } from './blocks.ts';
import { BufferMemory } from './buffer-memory.ts';
import { type Coding, joinSmall, type Piece } from './compression.ts';
import type { Corrections, FamilyHeader, Format } from './format.ts';
import { LineWriter, type Prepared } from './line-writer.ts';

/**
 * The lines of every task, as bytes, by family. New lines of a task are prepared first and then replace the previous ones
 * at once; a scrape only collects them (kube-state-metrics' `metrics_store` is the model).
 */
export class LineStore {
  /** Readers of the store's buffers hold it. */
  readonly memory = new BufferMemory();
  /** Blocks that have changed since they were compressed; the longest waiting first. */
  readonly changedBlocks = new Set<Block>();
  readonly #families = new Map<string, FamilyBlocks>();
  readonly #familyOfSample = new Map<string, string>();
  readonly #writer = new LineWriter((name) => this.#familyNameOf(name));
  readonly #tasks = new Map<string, readonly Stored[]>();
  readonly #pieces = new Map<string, readonly Piece[]>();
  #version = 0;

  /** `families`: all that tasks may publish, in the order of the exposition. */
  constructor(families: readonly FamilyHeader[]) {
    for (const family of families) {
      this.#families.set(family.name, new FamilyBlocks(family, this.changedBlocks, this.memory));
      for (const suffix of family.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) {
        this.#familyOfSample.set(family.name + suffix, family.name);
      }
    }
  }

  get samples(): number {
    return sum(this.#families.values(), ({ samples }) => samples);
  }

  /** The size of all lines, uncompressed. */
  get bytes(): number {
    return sum(this.#families.values(), ({ bytes }) => bytes);
  }

  /** Changes with every change of the lines. */
  get version(): number {
    return this.#version;
  }

  get tasks(): Iterable<string> {
    return this.#tasks.keys();
  }

  *blocks(): Generator<Block> {
    for (const { blocks } of this.#families.values()) yield* blocks;
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
    const { families, corrected } = atOnce(this.prepare(samples));
    this.replace(task, families);
    return corrected;
  }

  /** Replaces the task's lines by prepared ones. */
  replace(task: string, families: readonly Lines[]): void {
    const last = this.#tasks.get(task) ?? [];
    const before = families.map(({ family }, index) => storedOf(family, last, index));
    for (const one of last) if (!before.includes(one)) this.#familyOf(one.family).remove(one);
    const stored = families.map((lines, index) => this.#familyOf(lines.family).put(lines, before[index]));
    this.#tasks.set(task, stored);
    this.#hasChanged();
  }

  /** Removes a task's lines; with `keepsCounts` all but those of counters and histograms. */
  withdraw(task: string, keepsCounts = false): void {
    const stored = this.#tasks.get(task);
    if (stored === undefined) return;
    const kept: Stored[] = [];
    for (const one of stored) {
      const family = this.#familyOf(one.family);
      if (keepsCounts && family.isCount) kept.push(one);
      else family.remove(one);
    }
    if (kept.length > 0) this.#tasks.set(task, kept);
    else this.#tasks.delete(task);
    this.#hasChanged();
  }

  #hasChanged(): void {
    this.#version += 1;
    // Dropped at once, because they would keep replaced lines alive.
    this.#pieces.clear();
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
      if (family.blocks.size === 0) continue;
      yield family.header(format, coding);
      for (const block of family.blocks) yield (coding && block.compressed(coding)) ?? block.lines(this.memory);
    }
  }

  #familyNameOf(sampleName: string): string {
    const family = this.#familyOfSample.get(sampleName);
    if (family === undefined) throw new TypeError(`publishing ${sampleName}: the catalogue does not declare it`);
    return family;
  }

  #familyOf(name: string): FamilyBlocks {
    const family = this.#families.get(name);
    if (family === undefined) throw new TypeError(`family ${name} is not in the catalogue`);
    return family;
  }
}

/** The lines of a family among a task's previous ones; usually at the same place. */
function storedOf(family: string, last: readonly Stored[], index: number): Stored | undefined {
  return last[index]?.family === family ? last[index] : last.find((one) => one.family === family);
}

function sum(families: Iterable<FamilyBlocks>, sizeOf: (family: FamilyBlocks) => number): number {
  let total = 0;
  for (const family of families) total += sizeOf(family);
  return total;
}
