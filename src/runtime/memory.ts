/**
 * The share of a container's memory that the heap may take; the rest is for the process itself and for buffers outside
 * the heap.
 */
const HEAP_SHARE = 0.5;

export interface MemoryBounds {
  /** The heap's limit: above it V8 ends the process. */
  readonly heapLimitBytes: number;
  /** The limit of the container: above it the kernel ends the process. 0 or undefined if unknown. */
  readonly containerBytes: number | undefined;
}

/**
 * How large the heap can become before V8 or the kernel ends the process, in bytes. The heap's own limit is not enough:
 * V8 never sets it below 256 MiB, not even in a container of 128 MiB.
 */
export function usableHeapBytes({ heapLimitBytes, containerBytes }: MemoryBounds): number {
  return Math.min(heapLimitBytes, HEAP_SHARE * (containerBytes || Number.POSITIVE_INFINITY));
}
