/** Buffers of at least this size get their own memory pages from the system. */
const OWN_PAGES_BYTES = 16 * 1024;

/** How many bytes to free in one turn of the event loop: about two milliseconds, and more than one turn can replace. */
const BYTES_A_TURN = 16 * 1024 * 1024;

/** `ArrayBuffer` of Node 20 and later; not in the TypeScript library that is used here. */
interface ResizableMemory {
  readonly resizable: boolean;
  resize(bytes: number): void;
}

/**
 * Allocates a buffer outside of Node's pool: a part of the pool would keep all of it alive.
 *
 * Large buffers are resizable. They do not come from the heap of the C library, which keeps freed memory in fragments (the
 * process grew by half), and they can be freed without the garbage collector.
 */
export function allocate(bytes: number): Buffer {
  if (bytes < OWN_PAGES_BYTES) return Buffer.allocUnsafeSlow(bytes);
  const memory = Reflect.construct(ArrayBuffer, [bytes, { maxByteLength: bytes }]) as ArrayBuffer;
  return Buffer.from(memory, 0, bytes);
}

/** A copy that does not keep the original's memory alive. */
export function ownCopy(bytes: Buffer): Buffer {
  const own = allocate(bytes.length);
  bytes.copy(own);
  return own;
}

/** Writes a text of a known size: copied without encoding if each character is one byte. */
export function writeText(to: Buffer, text: string, at: number, bytes: number): void {
  to.write(text, at, bytes === text.length ? 'latin1' : 'utf8');
}

/** Frees the memory of a large buffer at once; the buffer is empty from then on. */
export function giveBack(buffer: Buffer): void {
  if (isLarge(buffer)) (buffer.buffer as unknown as ResizableMemory).resize(0);
}

interface Replaced {
  readonly buffer: Buffer;
  /** Readers with a lower number may still use it. */
  readonly before: number;
}

/**
 * Frees the memory of replaced buffers as soon as every reader that began before the replacement has ended, without
 * waiting for the garbage collector. Small buffers are left to the collector.
 */
export class BufferMemory {
  /** The numbers of the current readers, the earliest first. */
  readonly #readers = new Set<number>();
  #nextReader = 0;
  #replaced: Replaced[] = [];
  #isFreeing = false;

  /** How many buffers wait for a reader to end. */
  get waiting(): number {
    return this.#replaced.length;
  }

  /** Begins a reader; returns the function that ends it, which must be called. */
  hold(): () => void {
    const reader = this.#nextReader;
    this.#nextReader += 1;
    this.#readers.add(reader);
    return () => {
      if (this.#readers.delete(reader)) this.#freeSoon();
    };
  }

  /** Frees a replaced buffer, which no later reader gets, when its readers have ended. */
  free(buffer: Buffer): void {
    if (!isLarge(buffer)) return;
    this.#replaced.push({ buffer, before: this.#nextReader });
    this.#freeSoon();
  }

  #freeSoon(): void {
    if (this.#isFreeing || !this.#isUnread(this.#replaced[0])) return;
    this.#isFreeing = true;
    setImmediate(() => this.#freeSome());
  }

  #freeSome(): void {
    let freed = 0;
    for (let bytes = 0; bytes < BYTES_A_TURN; freed += 1) {
      const next = this.#replaced[freed];
      if (next === undefined || !this.#isUnread(next)) break;
      bytes += next.buffer.length;
      giveBack(next.buffer);
    }
    this.#replaced.splice(0, freed);
    this.#isFreeing = false;
    this.#freeSoon();
  }

  #isUnread(replaced: Replaced | undefined): boolean {
    const [oldest] = this.#readers;
    return replaced !== undefined && (oldest === undefined || oldest >= replaced.before);
  }
}

function isLarge(buffer: Buffer): boolean {
  return (buffer.buffer as unknown as ResizableMemory).resizable;
}
