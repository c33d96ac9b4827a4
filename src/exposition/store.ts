import type { Sample } from '../metrics/samples.ts';
import { atOnce } from '../runtime/slices.ts';
import type { Block, Stored } from './block.ts';
import { ChangedBlocks, FamilyBlocks } from './blocks.ts';
import { BufferMemory } from './buffer-memory.ts';
import { type Coding, type Compressed, codec, joinSmall, type Piece } from './compression.ts';
import { type FamilyHeader, type Format, headerLines, type Mended } from './format.ts';
import { LineWriter, type Prepared } from './line-writer.ts';

/** A family as the store has it: what is written above its lines, and the lines. */
interface Family {
  readonly name: string;
  readonly blocks: FamilyBlocks;
  readonly headers: Readonly<Record<Format, Buffer>>;
  readonly compressed: Map<string, Compressed>;
}

/** Lists of families that tasks share, remembered at most: tasks leave values out in many ways. */
const MOST_LISTS = 1_000;

/** What the store has of a task: its lines of each of its families. */
interface Entry {
  readonly families: readonly Family[];
  readonly stored: Stored[];
  samples: number;
  bytes: number;
}

/**
 * The lines of every task, as bytes, family by family. A task's lines are written off to the side and take the place of
 * its last ones at once; a scrape only gathers what is there (kube-state-metrics' `metrics_store` is the model).
 */
export class LineStore {
  /** A reader of buffers of the store holds it. */
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

  /** `families`: every family that tasks may publish, in the order of the exposition. */
  constructor(families: readonly FamilyHeader[]) {
    for (const family of families) {
      const headers = {
        text: Buffer.from(headerLines(family, 'text')),
        openmetrics: Buffer.from(headerLines(family, 'openmetrics')),
      };
      const blocks = new FamilyBlocks(this.#changed, this.memory);
      this.#families.set(family.name, { name: family.name, blocks, headers, compressed: new Map() });
      for (const suffix of family.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) {
        this.#familyOfSample.set(family.name + suffix, family.name);
      }
    }
  }

  /** How many samples a scrape would get now. */
  get samples(): number {
    return this.#samples;
  }

  /** How large all lines are, uncompressed. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Another number after each change: what was made of the same one is up to date. */
  get version(): number {
    return this.#version;
  }

  /** The tasks that have a snapshot here. */
  get tasks(): Iterable<string> {
    return this.#tasks.keys();
  }

  *blocks(): Generator<Block> {
    for (const { blocks } of this.#families.values()) yield* blocks.blocks;
  }

  /** Blocks that have other lines than when they were last compressed, the one that waits longest first. */
  get uncompressed(): Set<Block> {
    return this.#changed.uncompressed;
  }

  /** Has every block compressed once more. */
  recompress(): void {
    for (const block of this.blocks()) this.uncompressed.add(block);
  }

  /**
   * Writes samples off to the side; nothing is seen of them before they are published. Throws a RequestError `oversize`
   * where they would take more than `mostBytes`.
   */
  prepare(samples: Iterable<Sample>, mostBytes = Number.POSITIVE_INFINITY): Generator<void, Prepared> {
    return this.#writer.write(samples, mostBytes);
  }

  /** Puts samples in the place of the task's last ones, without a pause. Returns what had to be mended. */
  publish({ task, samples }: { readonly task: string; readonly samples: Iterable<Sample> }): Mended {
    return this.replace(task, atOnce(this.prepare(samples)));
  }

  /** Puts lines in the place of the task's last ones. Returns what had to be mended. */
  replace(task: string, prepared: Prepared): Mended {
    const before = this.#tasks.get(task);
    const families = this.#familiesOf(prepared, before);
    this.#samples += prepared.lines - (before?.samples ?? 0);
    this.#bytes += prepared.bytes - (before?.bytes ?? 0);
    if (before?.families === families) {
      // The same families as always: nothing is made anew, for it would outlive the young garbage.
      before.samples = prepared.lines;
      before.bytes = prepared.bytes;
      for (let index = 0; index < families.length; index += 1) {
        const lines = prepared.families[index];
        const stored = lines && families[index]?.blocks.put(lines, before.stored[index]);
        if (stored !== undefined) before.stored[index] = stored;
      }
    } else this.#tasks.set(task, this.#replaced(before, families, prepared));
    this.#changed.join();
    this.#change();
    return prepared.mended;
  }

  /** Takes a task's lines out, if there are any. */
  withdraw(task: string): void {
    const entry = this.#tasks.get(task);
    if (entry === undefined) return;
    for (const [index, stored] of entry.stored.entries()) entry.families[index]?.blocks.remove(stored);
    this.#tasks.delete(task);
    this.#samples -= entry.samples;
    this.#bytes -= entry.bytes;
    this.#change();
  }

  /**
   * One moment of everything: each family's header and its lines, families without samples left out; in a coding what is
   * compressed already, and the rest as it is. Put together once for all scrapes between two changes.
   */
  pieces(format: Format, coding: Coding | undefined): readonly Piece[] {
    const key = `${coding} ${format}`;
    const pieces = this.#pieces.get(key) ?? joinSmall(this.#piecesOf(format, coding));
    this.#pieces.set(key, pieces);
    return pieces;
  }

  /** The same uncompressed, in one buffer. */
  whole(format: Format): Buffer {
    return Buffer.concat(this.pieces(format, undefined).filter((piece) => Buffer.isBuffer(piece)));
  }

  /** Something is compressed now that was not when pieces were last asked for. */
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
    // Dropped at once: they would keep lines alive that are replaced.
    this.#pieces.clear();
  }

  #familyNameOf(sampleName: string): string {
    const family = this.#familyOfSample.get(sampleName);
    if (family === undefined) throw new TypeError(`publishing ${sampleName}: no row of the catalogue declares it`);
    return family;
  }

  /** A task's entry where its families are others than before, or it is new. */
  #replaced(before: Entry | undefined, families: readonly Family[], prepared: Prepared): Entry {
    const stored = prepared.families.map((lines) => {
      const family = this.#familyOf(lines.family);
      return family.blocks.put(lines, before?.stored[before.families.indexOf(family)]);
    });
    for (const [index, last] of before?.stored.entries() ?? []) {
      const family = before?.families[index];
      if (family !== undefined && !families.includes(family)) family.blocks.remove(last);
    }
    return { families, stored, samples: prepared.lines, bytes: prepared.bytes };
  }

  /** Shared by all tasks that have the same ones: there are as many of these lists as there are series, not tasks. */
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

function compressedHeader({ headers, compressed }: Family, format: Format, coding: Coding): Compressed {
  const key = `${coding} ${format}`;
  const known = compressed.get(key) ?? codec.compressNow(coding, headers[format]);
  compressed.set(key, known);
  return known;
}
