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

/**
 * Frees the memory of replaced buffers as soon as every reader that began before the replacement has ended, without
 * waiting for the garbage collector. Small buffers are left to the collector.
 */
export class BufferMemory {
  /** What each reader and those before it may still use; the earliest first. */
  readonly #readers: Buffer[][] = [];
  readonly #unread: Buffer[] = [];
  #isFreeing = false;

  /** How many buffers are not freed yet. */
  get waiting(): number {
    return this.#readers.reduce((count, buffers) => count + buffers.length, this.#unread.length);
  }

  /** Begins a reader; returns the function that ends it, which must be called. */
  hold(): () => void {
    const used: Buffer[] = [];
    this.#readers.push(used);
    return () => {
      const index = this.#readers.indexOf(used);
      if (index === -1) return;
      this.#readers.splice(index, 1);
      const left = this.#readers[index - 1] ?? this.#unread;
      for (const buffer of used) left.push(buffer);
      this.#freeSoon();
    };
  }

  /** Frees a replaced buffer, which no later reader gets, when its readers have ended. */
  free(buffer: Buffer): void {
    if (!isLarge(buffer)) return;
    (this.#readers.at(-1) ?? this.#unread).push(buffer);
    this.#freeSoon();
  }

  #freeSoon(): void {
    if (this.#isFreeing || this.#unread.length === 0) return;
    this.#isFreeing = true;
    setImmediate(() => this.#freeSome());
  }

  #freeSome(): void {
    for (let bytes = 0; bytes < BYTES_A_TURN; ) {
      const buffer = this.#unread.pop();
      if (buffer === undefined) break;
      bytes += buffer.length;
      giveBack(buffer);
    }
    this.#isFreeing = false;
    this.#freeSoon();
  }
}

function isLarge(buffer: Buffer): boolean {
  return (buffer.buffer as unknown as ResizableMemory).resizable;
}
