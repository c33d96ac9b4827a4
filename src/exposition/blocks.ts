import { BLOCK_BYTES, Block, Chunk, type Lines, type Stored } from './block.ts';
import type { BufferMemory } from './buffer-memory.ts';

/** How many blocks may wait with a stale buffer: several changes to one block then cost one new buffer. */
const UNJOINED_BLOCKS = 64;

/** The changed blocks whose buffer or compressed form is stale. */
export class ChangedBlocks {
  /** Not compressed since the change; the longest waiting first. */
  readonly uncompressed = new Set<Block>();
  readonly #unjoined = new Set<Block>();
  readonly #memory: BufferMemory;

  constructor(memory: BufferMemory) {
    this.#memory = memory;
  }

  add(block: Block): void {
    this.uncompressed.add(block);
    this.#unjoined.add(block);
  }

  delete(block: Block): void {
    this.uncompressed.delete(block);
    this.#unjoined.delete(block);
  }

  /** Makes new buffers for the longest waiting blocks. */
  join(): void {
    for (const block of this.#unjoined) {
      if (this.#unjoined.size <= UNJOINED_BLOCKS) return;
      this.#unjoined.delete(block);
      block.lines(this.#memory);
    }
  }
}

/** The lines of one family in blocks: small tasks share blocks, a large task has its own. */
export class FamilyBlocks {
  /** In the order of the exposition. */
  readonly blocks = new Set<Block>();
  readonly #changed: ChangedBlocks;
  readonly #memory: BufferMemory;
  /** Takes new chunks until it is full. */
  #open: Block | undefined;
  #tasks = 0;

  constructor(changed: ChangedBlocks, memory: BufferMemory) {
    this.#changed = changed;
    this.#memory = memory;
  }

  get tasks(): number {
    return this.#tasks;
  }

  /** Stores a task's lines; they replace its previous ones. */
  put({ text, bytes, blocks }: Lines, before: Stored | undefined): Stored {
    if (blocks.length === 0 && before instanceof Chunk) {
      before.block.replace(before, text, bytes, this.#memory);
      this.#settle(before.block, before);
      return before;
    }
    if (before !== undefined) this.remove(before);
    this.#tasks += 1;
    if (blocks.length === 0) {
      const chunk = new Chunk(this.#blockFor(bytes));
      chunk.block.add(chunk, text, bytes, this.#memory);
      this.#changed.add(chunk.block);
      return chunk;
    }
    for (const block of blocks) {
      this.blocks.add(block);
      this.#changed.add(block);
    }
    return blocks;
  }

  remove(stored: Stored): void {
    this.#tasks -= 1;
    if (stored instanceof Chunk) {
      stored.block.remove(stored);
      this.#settle(stored.block);
    } else for (const block of stored) this.#close(block);
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
    const block = this.#blockFor(chunk.bytes);
    block.add(chunk, text, chunk.bytes, this.#memory);
    this.#changed.add(block);
  }

  #blockFor(bytes: number): Block {
    if (this.#open === undefined || this.#open.bytes + bytes > BLOCK_BYTES) {
      this.#open = new Block();
      this.blocks.add(this.#open);
    }
    return this.#open;
  }

  #close(block: Block): void {
    if (block === this.#open) this.#open = undefined;
    this.blocks.delete(block);
    this.#changed.delete(block);
    block.free(this.#memory);
  }
}
