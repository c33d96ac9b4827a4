/** Buffers from this size on get pages of their own from the system. */
const OWN_PAGES_BYTES = 16 * 1024;

/** An `ArrayBuffer` as Node has it from version 20 on; our TypeScript library does not know it yet. */
interface ResizableMemory {
  readonly resizable: boolean;
  resize(bytes: number): void;
}

/**
 * Room for so many bytes, not shared with any other buffer: a part of Node's pool would keep the whole of it alive.
 *
 * Large ones are resizable: those do not come from the C library's heap, which keeps what is given back to it, scattered,
 * and had the process grow to half as much again; and they can be given back without waiting for the garbage collector.
 */
export function room(bytes: number): Buffer {
  if (bytes < OWN_PAGES_BYTES) return Buffer.allocUnsafeSlow(bytes);
  const memory = Reflect.construct(ArrayBuffer, [bytes, { maxByteLength: bytes }]) as ArrayBuffer;
  return Buffer.from(memory, 0, bytes);
}

/**
 * Gives the memory of a large buffer back to the system at once; a small one is left to the garbage collector. Nobody may
 * read it any more, in JavaScript or on its way to a socket or to the thread pool: it has no bytes from now on.
 */
export function vacate(buffer: Buffer): void {
  const memory = buffer.buffer as unknown as ResizableMemory;
  if (memory.resizable) memory.resize(0);
}

/** A copy that keeps nothing else alive. */
export function ownCopy(bytes: Buffer): Buffer {
  const own = room(bytes.length);
  bytes.copy(own);
  return own;
}
