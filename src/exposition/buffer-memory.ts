import { vacate } from './room.ts';

/** So many bytes are given back in one turn of the event loop: some two milliseconds. More than a turn can replace. */
const BYTES_A_TURN = 16 * 1024 * 1024;

interface Left {
  readonly buffer: Buffer;
  /** Readers with a lower number may have it. */
  readonly before: number;
}

/**
 * When memory that lines were in is given back: at once, and not when V8 comes round to it, but never while somebody who
 * began to read before the lines were replaced is still reading.
 */
export class Memory {
  /** Numbers of those who read now, the one who began first in front. */
  readonly #readers = new Set<number>();
  #nextReader = 0;
  #left: Left[] = [];
  #isSweeping = false;

  /** How many buffers wait until nobody reads them. */
  get waiting(): number {
    return this.#left.length;
  }

  /** Somebody begins to read; what is returned says that he has ended, and must be called. */
  hold(): () => void {
    const reader = this.#nextReader;
    this.#nextReader += 1;
    this.#readers.add(reader);
    return () => {
      if (this.#readers.delete(reader)) this.#sweepSoon();
    };
  }

  /** Nobody who begins to read from now on will see this buffer. */
  leave(buffer: Buffer): void {
    if (buffer.length === 0) return;
    this.#left.push({ buffer, before: this.#nextReader });
    this.#sweepSoon();
  }

  #sweepSoon(): void {
    if (this.#isSweeping || !this.#isRead(this.#left[0])) return;
    this.#isSweeping = true;
    setImmediate(() => this.#sweep());
  }

  #sweep(): void {
    let swept = 0;
    for (let bytes = 0; bytes < BYTES_A_TURN; swept += 1) {
      const left = this.#left[swept];
      if (left === undefined || !this.#isRead(left)) break;
      bytes += left.buffer.length;
      vacate(left.buffer);
    }
    this.#left.splice(0, swept);
    this.#isSweeping = false;
    this.#sweepSoon();
  }

  /** Whether all who may have had it have ended. */
  #isRead(left: Left | undefined): boolean {
    const [oldest] = this.#readers;
    return left !== undefined && (oldest === undefined || oldest >= left.before);
  }
}
