import { allocate, type BufferMemory, giveBack, writeText } from './buffer-memory.ts';
import type { Coding, Compressed } from './compression.ts';

/**
 * A block of small tasks' lines is not filled beyond this. Small enough that one changed task has little compressed
 * again, large enough that a scrape is made of few buffers.
 */
export const BLOCK_BYTES = 32 * 1024;

/** A task's lines of one family as they are written: a text where they are few, else buffers cut at line ends. */
export interface Lines {
  readonly family: string;
  readonly samples: number;
  readonly text: string;
  /** Of the text. */
  readonly bytes: number;
  /** Empty where there is a text. */
  readonly blocks: readonly Block[];
}

/** A task's few lines of one family, in a block with those of other tasks. */
export class Chunk {
  block: Block;
  bytes = 0;
  /** Where they are in the block's buffer, or in that of its newer lines. */
  at = 0;
  isNewer = false;

  constructor(block: Block) {
    this.block = block;
  }
}

/** A task's lines of one family, as they are stored: a chunk in a block, or blocks of their own. */
export type Stored = Chunk | readonly Block[];

/**
 * Lines that make one buffer and are compressed as one: those of several small tasks, or a piece of one large task. A
 * change is only noted. The buffer is made anew when it is asked for; one that was handed out is never written to.
 */
export class Block {
  readonly chunks: Chunk[] = [];
  #bytes: number;
  #buffer: Buffer;
  /**
   * What changed since the buffer was made: beside the heap, for texts that stay on it until the next scrape have it grow
   * to twice its size.
   */
  #newer: Buffer | undefined;
  #newerBytes = 0;
  #isStale = false;
  #compressed: Map<Coding, Compressed> | undefined;

  /** `lines`: a piece of a large task. */
  constructor(lines: Buffer = NO_LINES) {
    this.#buffer = lines;
    this.#bytes = lines.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(chunk: Chunk, text: string, bytes: number, memory: BufferMemory): void {
    this.#write(chunk, text, bytes, memory);
    chunk.block = this;
    this.chunks.push(chunk);
    this.#bytes += bytes;
    this.#change();
  }

  replace(chunk: Chunk, text: string, bytes: number, memory: BufferMemory): void {
    const before = chunk.bytes;
    this.#write(chunk, text, bytes, memory);
    this.#bytes += bytes - before;
    this.#change();
  }

  remove(chunk: Chunk): void {
    const last = this.chunks.pop();
    if (last !== undefined && last !== chunk) this.chunks[this.chunks.indexOf(chunk)] = last;
    this.#bytes -= chunk.bytes;
    this.#change();
  }

  textOf({ isNewer, at, bytes }: Chunk): string {
    return ((isNewer && this.#newer) || this.#buffer).toString('utf8', at, at + bytes);
  }

  /** Its lines, in a buffer that may be read until `memory` gives it back. */
  lines(memory: BufferMemory): Buffer {
    if (!this.#isStale) return this.#buffer;
    const before = this.#buffer;
    this.#buffer = this.#joined(before);
    this.#isStale = false;
    memory.free(before);
    return this.#buffer;
  }

  /** Gives its buffers back: it is in no exposition any more. */
  free(memory: BufferMemory): void {
    memory.free(this.#buffer);
    this.#dropNewer();
  }

  /** Its lines in a coding, where they have been compressed since they last changed. */
  compressed(coding: Coding): Compressed | undefined {
    return this.#compressed?.get(coding);
  }

  /** Keeps what came of compressing these lines, unless they have changed meanwhile. */
  keep(coding: Coding, compressed: Compressed, lines: Buffer): void {
    if (this.#isStale || lines !== this.#buffer) return;
    this.#compressed ??= new Map();
    this.#compressed.set(coding, compressed);
  }

  /** Lets go of what is compressed. */
  drop(coding: Coding): void {
    this.#compressed?.delete(coding);
  }

  #change(): void {
    this.#isStale = true;
    this.#compressed = undefined;
  }

  #write(chunk: Chunk, text: string, bytes: number, memory: BufferMemory): void {
    if (this.#newerBytes + bytes > BLOCK_BYTES) this.lines(memory);
    this.#newer ??= allocate(Math.max(BLOCK_BYTES, bytes));
    writeText(this.#newer, text, this.#newerBytes, bytes);
    chunk.at = this.#newerBytes;
    chunk.bytes = bytes;
    chunk.isNewer = true;
    this.#newerBytes += bytes;
  }

  #dropNewer(): void {
    // Read by no one else.
    if (this.#newer !== undefined) giveBack(this.#newer);
    this.#newer = undefined;
    this.#newerBytes = 0;
  }

  /** One buffer of all chunks. Neighbours are copied in one go, for a copy costs more than the bytes of one chunk. */
  #joined(before: Buffer): Buffer {
    const made = allocate(this.#bytes);
    let source = before;
    let from = 0;
    let run = 0;
    let at = 0;
    for (const chunk of this.chunks) {
      const of = (chunk.isNewer && this.#newer) || before;
      if (of !== source || chunk.at !== from + run) {
        if (run > 0) source.copy(made, at - run, from, from + run);
        source = of;
        from = chunk.at;
        run = 0;
      }
      run += chunk.bytes;
      chunk.at = at;
      chunk.isNewer = false;
      at += chunk.bytes;
    }
    if (run > 0) source.copy(made, at - run, from, from + run);
    this.#dropNewer();
    return made;
  }
}

const NO_LINES = Buffer.alloc(0);
