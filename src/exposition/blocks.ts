import { BLOCK_BYTES, Block, Chunk, type Lines, type Stored } from './block.ts';
import type { BufferMemory } from './buffer-memory.ts';

/** Blocks with lines newer than their buffer: enough that one which several polls change is made anew once. */
const UNJOINED_BLOCKS = 64;

/** The blocks that have changed, each until what has to be made of it has been made. */
export class ChangedBlocks {
  /** Those that were not compressed since, the one that waits longest first. */
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

  /** Makes the buffers anew of those that have waited longest. */
  join(): void {
    for (const block of this.#unjoined) {
      if (this.#unjoined.size <= UNJOINED_BLOCKS) return;
      this.#unjoined.delete(block);
      block.lines(this.#memory);
    }
  }
}

/** The lines of one family in blocks: small tasks share them, a large task has its own. */
export class FamilyBlocks {
  /** In the order of the exposition. */
  readonly blocks = new Set<Block>();
  readonly #changed: ChangedBlocks;
  readonly #memory: BufferMemory;
  /** New chunks go here, until it is full. */
  #open: Block | undefined;
  #tasks = 0;

  constructor(changed: ChangedBlocks, memory: BufferMemory) {
    this.#changed = changed;
    this.#memory = memory;
  }

  /** How many tasks have lines here. */
  get tasks(): number {
    return this.#tasks;
  }

  /** Stores a task's lines in the place of its last ones. */
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

  /** Takes a task's lines out. */
  remove(stored: Stored): void {
    this.#tasks -= 1;
    if (stored instanceof Chunk) {
      stored.block.remove(stored);
      this.#settle(stored.block);
    } else for (const block of stored) this.#close(block);
  }

  /** After a change: a chunk that grew leaves a block that is too full, and a block that is nearly empty is given up. */
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
