import { BLOCK_BYTES, Block, Chunk, type Lines, type Stored } from './block.ts';
import type { BufferMemory } from './buffer-memory.ts';
import { type Coding, codec, type Piece } from './compression.ts';
import { type FamilyHeader, type Format, headerLines } from './format.ts';

/** How many blocks may wait with a stale buffer: several changes to one block then cost one new buffer. */
const UNJOINED_BLOCKS = 64;

/** The changed blocks whose buffer or compressed form is stale. */
export class ChangedBlocks {
  /** Not compressed since the change; the longest waiting first. */
  readonly uncompressed = new Set<Block>();
  readonly #unjoined = new Set<Block>();
  readonly #memory: BufferMemory;
  #joining: NodeJS.Immediate | undefined;

  constructor(memory: BufferMemory) {
    this.#memory = memory;
  }

  add(block: Block): void {
    this.uncompressed.add(block);
    this.#unjoined.add(block);
    this.#joining ??= setImmediate(() => this.#join());
  }

  delete(block: Block): void {
    this.uncompressed.delete(block);
    this.#unjoined.delete(block);
  }

  /** Makes new buffers for the longest waiting blocks; in a turn of its own, because publishing need not wait for it. */
  #join(): void {
    this.#joining = undefined;
    for (const block of this.#unjoined) {
      if (this.#unjoined.size <= UNJOINED_BLOCKS) return;
      this.#unjoined.delete(block);
      block.lines(this.#memory);
    }
  }
}

const COUNTS: ReadonlySet<string> = new Set(['counter', 'histogram']);

/** The lines of one family in blocks: small tasks share blocks, a large task has its own. */
export class FamilyBlocks {
  /** In the order of the exposition. */
  readonly blocks = new Set<Block>();
  /** Whether it is a counter or a histogram. */
  readonly isCount: boolean;
  readonly #family: FamilyHeader;
  readonly #headers = new Map<string, Piece>();
  readonly #changed: ChangedBlocks;
  readonly #memory: BufferMemory;
  /** Takes new chunks until it is full. */
  #open: Block | undefined;

  constructor(family: FamilyHeader, changed: ChangedBlocks, memory: BufferMemory) {
    this.isCount = COUNTS.has(family.type);
    this.#family = family;
    this.#changed = changed;
    this.#memory = memory;
  }

  /** Its header, compressed if a coding is given. */
  header(format: Format, coding: Coding | undefined): Piece {
    const key = `${coding} ${format}`;
    let header = this.#headers.get(key);
    if (header === undefined) {
      const lines = Buffer.from(headerLines(this.#family, format));
      header = coding === undefined ? lines : codec.compressNow(coding, lines);
      this.#headers.set(key, header);
    }
    return header;
  }

  /** Stores a task's lines; they replace its previous ones. */
  put(lines: Lines, before: Stored | undefined): Stored {
    if ('text' in lines && before instanceof Chunk) {
      before.block.replace(before, lines.text, lines.bytes, this.#memory);
      this.#settle(before.block, before);
      return before;
    }
    if (before !== undefined) this.remove(before);
    if ('text' in lines) return this.#add(lines.text, lines.bytes);
    for (const block of lines.blocks) {
      this.blocks.add(block);
      this.#changed.add(block);
    }
    return lines;
  }

  remove(stored: Stored): void {
    if (stored instanceof Chunk) {
      stored.block.remove(stored);
      this.#settle(stored.block);
    } else for (const block of stored.blocks) this.#close(block);
  }

  /** After a change: moves a chunk that grew out of a block that is too full, and empties a block that is nearly empty. */
  #settle(block: Block, grown?: Chunk): void {
    this.#changed.add(block);
    if (grown !== undefined && block.bytes > 2 * BLOCK_BYTES && block.chunks.length > 1) this.#move(grown);
    if (block.chunks.length > 0 && (block === this.#open || block.bytes >= BLOCK_BYTES / 4)) return;
    for (const chunk of [...block.chunks]) this.#move(chunk);
    this.#close(block);
  }

  #move(chunk: Chunk): void {
    const text = chunk.block.textOf(chunk);
    chunk.block.remove(chunk);
    this.#add(text, chunk.bytes, chunk);
  }

  /** Adds lines to the block that is being filled. */
  #add(text: string, bytes: number, moved?: Chunk): Chunk {
    if (this.#open === undefined || this.#open.bytes + bytes > BLOCK_BYTES) {
      this.#open = new Block(this.#family.name);
      this.blocks.add(this.#open);
    }
    const chunk = moved ?? new Chunk(this.#open);
    this.#open.add(chunk, text, bytes, this.#memory);
    this.#changed.add(this.#open);
    return chunk;
  }

  #close(block: Block): void {
    if (block === this.#open) this.#open = undefined;
    this.blocks.delete(block);
    this.#changed.delete(block);
    block.free(this.#memory);
  }
}
