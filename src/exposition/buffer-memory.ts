/** Buffers from this size on get memory pages of their own from the system. */
const OWN_PAGES_BYTES = 16 * 1024;

/** Bytes given back in one turn of the event loop at most: some two milliseconds, and more than a turn can replace. */
const BYTES_A_TURN = 16 * 1024 * 1024;

/** An `ArrayBuffer` as Node has it from version 20 on; our TypeScript library does not know it yet. */
interface ResizableMemory {
  readonly resizable: boolean;
  resize(bytes: number): void;
}

/**
 * A buffer of its own: a part of Node's pool would keep the whole of the pool alive.
 *
 * Large ones are resizable. Those do not come from the C library's heap, which keeps what is given back to it, scattered,
 * and had the process grow to half as much again; and they can be given back without waiting for the garbage collector.
 */
export function allocate(bytes: number): Buffer {
  if (bytes < OWN_PAGES_BYTES) return Buffer.allocUnsafeSlow(bytes);
  const memory = Reflect.construct(ArrayBuffer, [bytes, { maxByteLength: bytes }]) as ArrayBuffer;
  return Buffer.from(memory, 0, bytes);
}

/** A copy that keeps nothing else alive. */
export function ownCopy(bytes: Buffer): Buffer {
  const own = allocate(bytes.length);
  bytes.copy(own);
  return own;
}

/** Writes a text of this size: where each of its characters is one byte, copied and not encoded. */
export function writeText(to: Buffer, text: string, at: number, bytes: number): void {
  to.write(text, at, bytes === text.length ? 'latin1' : 'utf8');
}

/** Gives the memory of a large buffer back to the system at once. It is empty from then on. */
export function giveBack(buffer: Buffer): void {
  if (isLarge(buffer)) (buffer.buffer as unknown as ResizableMemory).resize(0);
}

interface Replaced {
  readonly buffer: Buffer;
  /** Readers with a lower number may have it. */
  readonly before: number;
}

/**
 * Gives the memory of replaced buffers back to the system: at once, and not when the garbage collector comes to it, but
 * never while a reader that began before the replacement is still reading. Small buffers are left to the collector.
 */
export class BufferMemory {
  /** Numbers of those who read now, the one who began first in front. */
  readonly #readers = new Set<number>();
  #nextReader = 0;
  #replaced: Replaced[] = [];
  #isFreeing = false;

  /** How many buffers wait until their last reader has ended. */
  get waiting(): number {
    return this.#replaced.length;
  }

  /** A reader begins. What is returned ends it, and must be called. */
  hold(): () => void {
    const reader = this.#nextReader;
    this.#nextReader += 1;
    this.#readers.add(reader);
    return () => {
      if (this.#readers.delete(reader)) this.#freeSoon();
    };
  }

  /** A buffer has been replaced: no reader that begins from now on gets it. It is empty once it has been given back. */
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

  /** Whether all readers that may have it have ended. */
  #isUnread(replaced: Replaced | undefined): boolean {
    const [oldest] = this.#readers;
    return replaced !== undefined && (oldest === undefined || oldest >= replaced.before);
  }
}

function isLarge(buffer: Buffer): boolean {
  return (buffer.buffer as unknown as ResizableMemory).resizable;
}
