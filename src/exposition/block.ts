import { allocate, type BufferMemory, giveBack, writeText } from './buffer-memory.ts';
import type { Coding, Compressed } from './compression.ts';

/**
 * The size up to which the lines of small tasks share a block: small, so that a change has little compressed again;
 * large, so that a scrape consists of few buffers.
 */
export const BLOCK_BYTES = 32 * 1024;

/** A task's lines of one family, just written: a text if they are few, otherwise blocks that end at line ends. */
export type Lines = LinesInText | LinesInBlocks;

interface WrittenLines {
  readonly family: string;
  readonly samples: number;
  readonly bytes: number;
  /** How many samples are missing because a later one had the same name and labels. */
  readonly duplicates: number;
}

export interface LinesInText extends WrittenLines {
  readonly text: string;
}

export interface LinesInBlocks extends WrittenLines {
  readonly blocks: readonly Block[];
}

/** A task's few lines of one family, in a block that it shares with other tasks. */
export class Chunk {
  block: Block;
  bytes = 0;
  /** The offset in the block's buffer, or in the buffer of its newer lines. */
  at = 0;
  isNewer = false;

  constructor(block: Block) {
    this.block = block;
  }

  get family(): string {
    return this.block.family;
  }
}

/** A task's lines of one family, stored. */
export type Stored = Chunk | LinesInBlocks;

/**
 * Lines that form one buffer and are compressed together: those of several small tasks, or a part of one large task. A
 * change only marks the buffer as stale; the next call of `lines` makes a new one. A buffer never changes after `lines`
 * returned it.
 */
export class Block {
  readonly family: string;
  readonly chunks: Chunk[] = [];
  #bytes: number;
  #buffer: Buffer;
  /**
   * The lines that changed since the buffer was made. Outside the heap: texts that stay on it until the next scrape make
   * it grow to twice its size.
   */
  #newer: Buffer | undefined;
  #newerBytes = 0;
  #isStale = false;
  #compressed: Map<Coding, Compressed> | undefined;

  /** `lines`: a part of a large task. */
  constructor(family: string, lines: Buffer = NO_LINES) {
    this.family = family;
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

  /** The lines, in a buffer that is valid until `memory` frees it. */
  lines(memory: BufferMemory): Buffer {
    if (!this.#isStale) return this.#buffer;
    const before = this.#buffer;
    this.#buffer = this.#joined(before);
    this.#isStale = false;
    memory.free(before);
    return this.#buffer;
  }

  /** Frees the buffers of a block that is no longer exposed. */
  free(memory: BufferMemory): void {
    memory.free(this.#buffer);
    this.#dropNewer();
  }

  /** The compressed lines; undefined if they have changed since. */
  compressed(coding: Coding): Compressed | undefined {
    return this.#compressed?.get(coding);
  }

  /** Stores compressed lines, unless they have changed in the meantime. */
  keep(coding: Coding, compressed: Compressed, lines: Buffer): void {
    if (this.#isStale || lines !== this.#buffer) return;
    this.#compressed ??= new Map();
    this.#compressed.set(coding, compressed);
  }

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
    // No reader has it.
    if (this.#newer !== undefined) giveBack(this.#newer);
    this.#newer = undefined;
    this.#newerBytes = 0;
  }

  /** One buffer of all chunks. Copies neighbours together: a call costs more than the bytes of one chunk. */
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
