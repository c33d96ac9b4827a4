import { BLOCK_BYTES, Block, Chunk, type FewLines, type Lines, type Stored } from './block.ts';
import type { BufferMemory } from './buffer-memory.ts';
import { type Coding, codec, type Piece } from './compression.ts';
import { type FamilyHeader, type Format, headerLines } from './format.ts';

const COUNTS: ReadonlySet<string> = new Set(['counter', 'histogram']);

/** The lines of one family in blocks: small tasks share blocks, a large task has its own. */
export class FamilyBlocks {
  /** In the order of the exposition. */
  readonly blocks = new Set<Block>();
  /** Whether it is a counter or a histogram. */
  readonly isCount: boolean;
  samples = 0;
  bytes = 0;
  readonly #family: FamilyHeader;
  readonly #headers = new Map<string, Piece>();
  readonly #changed: Set<Block>;
  readonly #memory: BufferMemory;
  /** Takes new chunks until it is full. */
  #open: Block | undefined;

  /** Adds blocks that change to `changed`. */
  constructor(family: FamilyHeader, changed: Set<Block>, memory: BufferMemory) {
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
    this.samples += lines.samples - (before?.samples ?? 0);
    this.bytes += lines.bytes - (before?.bytes ?? 0);
    if ('text' in lines && before instanceof Chunk) {
      before.block.replace(before, lines, this.#memory);
      this.#settle(before.block, before);
      return before;
    }
    if (before !== undefined) this.#drop(before);
    if ('text' in lines) return this.#add(lines);
    for (const block of lines.blocks) {
      this.blocks.add(block);
      this.#changed.add(block);
    }
    return lines;
  }

  remove(stored: Stored): void {
    this.samples -= stored.samples;
    this.bytes -= stored.bytes;
    this.#drop(stored);
  }

  #drop(stored: Stored): void {
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
    const { text, bytes, samples } = chunk;
    chunk.block.remove(chunk);
    this.#add({ text, bytes, samples }, chunk);
  }

  /** Adds lines to the block that is being filled. */
  #add(lines: FewLines, moved?: Chunk): Chunk {
    if (this.#open === undefined || this.#open.bytes + lines.bytes > BLOCK_BYTES) {
      this.#open = new Block(this.#family.name);
      this.blocks.add(this.#open);
    }
    const chunk = moved ?? new Chunk(this.#open);
    this.#open.add(chunk, lines, this.#memory);
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
