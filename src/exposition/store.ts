import type { Sample } from '../metrics/samples.ts';
import type { Snapshot } from '../metrics/snapshot.ts';
import { atOnce } from '../runtime/slices.ts';
import { type Coding, type Item, type Packed, packAtOnce, together } from './coding.ts';
import { LineWriter, Prepared } from './line-writer.ts';
import type { Segment } from './segment.ts';
import { type Chunk, Shelf } from './shelf.ts';
import { type FamilyHeader, type Format, headerLines, type Mended } from './text.ts';

/** A family as the store has it: what is written above its chunks, and the chunks. */
interface Family {
  readonly shelf: Shelf;
  readonly headers: Readonly<Record<Format, Buffer>>;
  readonly packed: Map<string, Packed>;
}

/** What the store holds of a task. */
interface Entry {
  readonly chunks: ReadonlyMap<Family, Chunk>;
  readonly samples: number;
}

/** One moment of the store, as buffers that nobody changes any more. */
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
  readonly #writer = new LineWriter((name) => this.#familyNameOf(name));
  readonly #tasks = new Map<string, Entry>();
  readonly #changed = new Set<Segment>();
  readonly #items = new Map<string, readonly Item[]>();
  #samples = 0;
  #version = 0;

  /** `families`: every family that tasks may publish, in the order of the exposition. */
  constructor(families: readonly FamilyHeader[]) {
    for (const family of families) {
      const headers = {
        text: Buffer.from(headerLines(family, 'text')),
        openmetrics: Buffer.from(headerLines(family, 'openmetrics')),
      };
      const shelf = new Shelf(this.#changed);
      this.#families.set(family.name, { shelf, headers, packed: new Map() });
      for (const suffix of family.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) {
        this.#familyOfSample.set(family.name + suffix, family.name);
      }
    }
  }

  /** How many samples a scrape would get now. */
  get samples(): number {
    return this.#samples;
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

  /** Writes samples off to the side; nothing is seen of them before they are published. */
  prepare(samples: Iterable<Sample>): Generator<void, Prepared> {
    return this.#writer.write(samples);
  }

  /** Puts a snapshot's lines in the place of the task's last ones. Returns what had to be mended. */
  publish({ task, samples, written }: Snapshot): Mended {
    const prepared = written instanceof Prepared ? written : atOnce(this.prepare(samples));
    const before = this.#tasks.get(task);
    const chunks = new Map<Family, Chunk>();
    for (const [name, lines] of prepared.families) {
      const family = this.#familyOf(name);
      chunks.set(family, family.shelf.put(lines, before?.chunks.get(family)));
    }
    for (const [family, chunk] of before?.chunks ?? []) if (!chunks.has(family)) family.shelf.take(chunk);
    this.#tasks.set(task, { chunks, samples: prepared.lines });
    this.#samples += prepared.lines - (before?.samples ?? 0);
    this.#change();
    return prepared.mended;
  }

  /** Takes a task's lines out, if there are any. */
  withdraw(task: string): void {
    const entry = this.#tasks.get(task);
    if (entry === undefined) return;
    for (const [family, chunk] of entry.chunks) family.shelf.take(chunk);
    this.#tasks.delete(task);
    this.#samples -= entry.samples;
    this.#change();
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
