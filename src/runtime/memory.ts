/** How much of a container the heap may fill; the rest is the process itself, and what lies beside the heap. */
const HEAP_SHARE = 0.5;

/** What may be taken of memory, as the engine and the system say it. */
export interface MemoryBounds {
  /** The heap's limit: beyond it V8 ends the process. */
  readonly heapLimitBytes: number;
  /** The limit of the container: beyond it the kernel ends the process. 0 or undefined where nobody knows of one. */
  readonly containerBytes: number | undefined;
}

/**
 * How large the heap may become before somebody ends the process, in bytes. Its own limit does not tell: V8 never sets
 * that below 256 MiB by itself, not even in a container of 128.
 */
export function usableHeapBytes({ heapLimitBytes, containerBytes }: MemoryBounds): number {
  return Math.min(heapLimitBytes, HEAP_SHARE * (containerBytes || Number.POSITIVE_INFINITY));
}
