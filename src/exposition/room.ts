/** Buffers from this size on get pages of their own from the system. */
const OWN_PAGES_BYTES = 64 * 1024;

/**
 * Room for so many bytes, not shared with any other buffer: a part of Node's pool would keep the whole of it alive.
 *
 * Large ones are resizable buffers, though nobody resizes them: those do not come from the C library's heap, which keeps
 * what is given back to it, scattered, and had the process grow to half as much again.
 */
export function room(bytes: number): Buffer {
  if (bytes < OWN_PAGES_BYTES) return Buffer.allocUnsafeSlow(bytes);
  // Our TypeScript library does not know the second argument yet; Node has it from version 20 on.
  const memory = Reflect.construct(ArrayBuffer, [bytes, { maxByteLength: bytes }]) as ArrayBuffer;
  return Buffer.from(memory, 0, bytes);
}

/** A copy that keeps nothing else alive. */
export function ownCopy(bytes: Buffer): Buffer {
  const own = room(bytes.length);
  bytes.copy(own);
  return own;
}
