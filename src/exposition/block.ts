import { allocate, type BufferMemory, giveBack, writeText } from './buffer-memory.ts';
import type { Coding, Compressed } from './compression.ts';

/**
 * The size up to which the lines of small tasks share a block: small, so that a change has little compressed again;
 * large, so that a scrape consists of few buffers.
 */
export const BLOCK_BYTES = 32 * 1024;

const NO_LINES: Buffer = Buffer.alloc(0);

/** A task's lines of one family, just written: a text if they are few, otherwise blocks that end at line ends. */
export type Lines = LinesInText | LinesInBlocks;

export interface FewLines {
  readonly samples: number;
  readonly bytes: number;
  readonly text: string;
}

export interface LinesInText extends FewLines {
  readonly family: string;
  /** How many samples are missing because a later one had the same name and labels. */
  readonly duplicates: number;
}

export interface LinesInBlocks extends Omit<LinesInText, 'text'> {
  readonly blocks: readonly Block[];
}

/** A task's few lines of one family, in a block that it shares with other tasks. */
export class Chunk {
  block: Block;
  samples = 0;
  bytes = 0;
  /** Has the lines, from `at` on. */
  buffer: Buffer = NO_LINES;
  at = 0;

  constructor(block: Block) {
    this.block = block;
  }

  get family(): string {
    return this.block.family;
  }

  get text(): string {
    return this.buffer.toString('utf8', this.at, this.at + this.bytes);
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

  add(chunk: Chunk, lines: FewLines, memory: BufferMemory): void {
    chunk.block = this;
    this.replace(chunk, lines, memory);
    this.chunks.push(chunk);
  }

  replace(chunk: Chunk, { text, bytes, samples }: FewLines, memory: BufferMemory): void {
    if (this.#newerBytes + bytes > BLOCK_BYTES) this.lines(memory);
    this.#newer ??= allocate(Math.max(BLOCK_BYTES, bytes));
    writeText(this.#newer, text, this.#newerBytes, bytes);
    this.#bytes += bytes - chunk.bytes;
    chunk.samples = samples;
    chunk.bytes = bytes;
    chunk.buffer = this.#newer;
    chunk.at = this.#newerBytes;
    this.#newerBytes += bytes;
    this.#change();
  }

  remove(chunk: Chunk): void {
    const last = this.chunks.pop();
    if (last !== undefined && last !== chunk) this.chunks[this.chunks.indexOf(chunk)] = last;
    this.#bytes -= chunk.bytes;
    chunk.bytes = 0;
    this.#change();
  }

  /** The lines, in a buffer that is valid until `memory` frees it. */
  lines(memory: BufferMemory): Buffer {
    if (this.#isStale) {
      memory.free(this.#buffer);
      this.#buffer = this.#joined();
      this.#isStale = false;
    }
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

  #dropNewer(): void {
    // No reader has it.
    if (this.#newer !== undefined) giveBack(this.#newer);
    this.#newer = undefined;
    this.#newerBytes = 0;
  }

  /** One buffer of all chunks. Copies neighbours together: a call costs more than the bytes of one chunk. */
  #joined(): Buffer {
    const made = allocate(this.#bytes);
    let source = NO_LINES;
    let from = 0;
    let to = 0;
    let at = 0;
    for (const chunk of this.chunks) {
      if (chunk.buffer !== source || chunk.at !== to) {
        source.copy(made, at - (to - from), from, to);
        source = chunk.buffer;
        from = chunk.at;
        to = from;
      }
      to += chunk.bytes;
      chunk.buffer = made;
      chunk.at = at;
      at += chunk.bytes;
    }
    source.copy(made, at - (to - from), from, to);
    this.#dropNewer();
    return made;
  }
}
