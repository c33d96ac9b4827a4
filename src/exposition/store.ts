import type { Sample } from '../metrics/samples.ts';
import type { Snapshot } from '../metrics/snapshot.ts';
import { atOnce } from '../runtime/slices.ts';
import { Memory } from './buffer-memory.ts';
import { type Coding, type Item, type Packed, packAtOnce, together } from './compression.ts';
import { type FamilyHeader, type Format, headerLines, type Mended } from './format.ts';
import { LineWriter, Prepared } from './line-writer.ts';
import type { Segment } from './segment.ts';
import { type Chunk, Shelf } from './shelf.ts';
import { Slab } from './slab.ts';

/** A family as the store has it: what is written above its chunks, and the chunks. */
interface Family {
  readonly name: string;
  readonly shelf: Shelf;
  readonly headers: Readonly<Record<Format, Buffer>>;
  readonly packed: Map<string, Packed>;
}

/** Lists of families that tasks share, remembered at most: tasks leave values out in many ways. */
const MOST_LISTS = 1_000;

/** What the store holds of a task: a chunk of each of its families. */
interface Entry {
  readonly families: readonly Family[];
  readonly chunks: Chunk[];
  samples: number;
  bytes: number;
}

/** One moment of the store, as buffers that nobody changes for as long as whoever took it holds the store. */
export interface Moment {
  readonly buffers: readonly Buffer[];
}

/**
 * The lines of every task, as bytes, family by family. A snapshot's lines are written off to the side and take the place
 * of the task's last ones at once; a scrape only gathers what is there (kube-state-metrics' `metrics_store` is the
 * model).
 */
export class ChunkStore {
  readonly #families = new Map<string, Family>();
  readonly #familyOfSample = new Map<string, string>();
  readonly #memory = new Memory();
  readonly #slab = new Slab();
  readonly #writer = new LineWriter((name) => this.#familyNameOf(name), this.#slab, this.#memory);
  readonly #tasks = new Map<string, Entry>();
  readonly #changed = new Set<Segment>();
  readonly #items = new Map<string, readonly Item[]>();
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
      const shelf = new Shelf(this.#changed, this.#memory, this.#slab);
      this.#families.set(family.name, { name: family.name, shelf, headers, packed: new Map() });
      for (const suffix of family.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) {
        this.#familyOfSample.set(family.name + suffix, family.name);
      }
    }
  }

  /** How many samples a scrape would get now. */
  get samples(): number {
    return this.#samples;
  }

  /** How large all lines are, before they are packed. */
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

  /** How many chunks are held, over all families; grows with tasks and not with time. */
  get chunks(): number {
    let count = 0;
    for (const { shelf } of this.#families.values()) count += shelf.chunks;
    return count;
  }

  /** Every segment. */
  *segments(): Generator<Segment> {
    for (const { shelf } of this.#families.values()) for (const page of shelf.pages) yield* page.segments;
  }

  /** A segment that was changed and not handed out since; the one that waits longest. */
  takeChanged(): Segment | undefined {
    const [segment] = this.#changed;
    if (segment !== undefined) this.#changed.delete(segment);
    return segment;
  }

  /** Hands out every segment once more. */
  changeAll(): void {
    for (const segment of this.segments()) this.#changed.add(segment);
  }

  /**
   * Writes samples off to the side; nothing is seen of them before they are published. Throws a RequestError `oversize`
   * where they would take more than `mostBytes`.
   */
  prepare(samples: Iterable<Sample>, mostBytes = Number.POSITIVE_INFINITY): Generator<void, Prepared> {
    return this.#writer.write(samples, mostBytes);
  }

  /** Puts a snapshot's lines in the place of the task's last ones. Returns what had to be mended. */
  publish({ task, samples, written }: Snapshot): Mended {
    const prepared = written instanceof Prepared ? written : atOnce(this.prepare(samples));
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
        const chunk = lines && families[index]?.shelf.put(lines, before.chunks[index]);
        if (chunk !== undefined) before.chunks[index] = chunk;
      }
    } else this.#tasks.set(task, this.#replaced(before, families, prepared));
    this.#change();
    return prepared.mended;
  }

  /** Takes a task's lines out, if there are any. */
  withdraw(task: string): void {
    const entry = this.#tasks.get(task);
    if (entry === undefined) return;
    for (const [index, chunk] of entry.chunks.entries()) entry.families[index]?.shelf.take(chunk);
    this.#tasks.delete(task);
    this.#samples -= entry.samples;
    this.#bytes -= entry.bytes;
    this.#change();
  }

  /** Somebody begins to read what was or will be handed out; what is returned says that he has ended, and must be called. */
  hold(): () => void {
    return this.#memory.hold();
  }

  /** Buffers that are given back when those who read now have ended. */
  get waiting(): number {
    return this.#memory.waiting;
  }

  /** What there is now: each family's header and its chunks, never split, families without samples left out. */
  moment(format: Format): Moment {
    const buffers: Buffer[] = [];
    for (const { shelf, headers } of this.#families.values()) {
      if (shelf.chunks === 0) continue;
      buffers.push(headers[format]);
      for (const page of shelf.pages) for (const segment of page.segments) buffers.push(segment.lines());
    }
    return { buffers };
  }

  /**
   * The same moment for a coding: what is packed already as that, and the rest as it is. Made once for all scrapes
   * between two changes.
   */
  items(format: Format, coding: Coding): readonly Item[] {
    const key = `${coding} ${format}`;
    const items = this.#items.get(key) ?? together(this.#itemsOf(format, coding));
    this.#items.set(key, items);
    return items;
  }

  /** Something is packed now that was not when items were last asked for. */
  repacked(): void {
    this.#items.clear();
  }

  *#itemsOf(format: Format, coding: Coding): Generator<Item> {
    for (const family of this.#families.values()) {
      if (family.shelf.chunks === 0) continue;
      yield packedHeader(family, format, coding);
      for (const page of family.shelf.pages) yield* page.items(coding);
    }
  }

  #change(): void {
    this.#version += 1;
    // Dropped at once: they would keep lines alive that are replaced.
    this.#items.clear();
  }

  #familyNameOf(sampleName: string): string {
    const family = this.#familyOfSample.get(sampleName);
    if (family === undefined) throw new TypeError(`publishing ${sampleName}: no row of the catalogue declares it`);
    return family;
  }

  /** A task's entry where its families are others than before, or it is new. */
  #replaced(before: Entry | undefined, families: readonly Family[], prepared: Prepared): Entry {
    const chunks = prepared.families.map((lines) => {
      const family = this.#familyOf(lines.family);
      return family.shelf.put(lines, before?.chunks[before.families.indexOf(family)]);
    });
    for (const [index, chunk] of before?.chunks.entries() ?? []) {
      const family = before?.families[index];
      if (family !== undefined && !families.includes(family)) family.shelf.take(chunk);
    }
    return { families, chunks, samples: prepared.lines, bytes: prepared.bytes };
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

function packedHeader({ headers, packed }: Family, format: Format, coding: Coding): Packed {
  const key = `${coding} ${format}`;
  const known = packed.get(key) ?? packAtOnce(coding, headers[format]);
  packed.set(key, known);
  return known;
}
