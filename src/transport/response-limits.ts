export interface ResponseLimits {
  /** The largest body in bytes, compressed and uncompressed. */
  readonly bytes: number;
  /** Whether memory, and not `MAX_RESPONSE_BYTES`, sets that limit. */
  readonly isByMemory: boolean;
  /** Of the parsed answer, in bytes of memory, as `costOf` estimates it. */
  readonly parsedBytes: number;
}

export interface ResponseMemory {
  readonly heapBytes: number;
  /** `MAX_RESPONSE_BYTES`: the limit for every answer, however much memory there is. */
  readonly maxBytes: number;
  readonly concurrency: number;
}

const MIB = 1024 * 1024;

const LEAST = { weight: 64 * 1024, bytes: 32 * 1024 } as const;

/**
 * Sizes of answers. `everything`: all data of an account; one at a time. `list`: all objects of one kind. `inventory`:
 * one of four such lists that are held together. `one`: about one object; as many at once as requests in flight.
 *
 * `weight` and `bytes` are shares of the heap; those of `one` are for all such answers together. Every answer has its
 * own share, so no answer waits for memory and none takes the memory of another. Bodies are outside the heap; in a
 * container the heap gets half, and much of the other half is the process itself. In 128 MiB this gives 8, 4, 2 and 1
 * MiB, and 28 MiB for everything that is polled at once by default. `maxWeight`: above it time is the limit, because
 * such an answer is read in one turn of the event loop.
 */
const SIZES = {
  everything: { weight: 1 / 8, bytes: 1 / 16, maxWeight: Number.POSITIVE_INFINITY },
  list: { weight: 1 / 16, bytes: 1 / 32, maxWeight: 64 * MIB },
  inventory: { weight: 1 / 32, bytes: 1 / 64, maxWeight: 64 * MIB },
  one: { weight: 1 / 8, bytes: 1 / 16, maxWeight: 16 * MIB },
} as const;

export type AnswerSize = keyof typeof SIZES;

export function answerLimits({ heapBytes, maxBytes, concurrency }: ResponseMemory, size: AnswerSize): ResponseLimits {
  const { weight, bytes, maxWeight } = SIZES[size];
  const sharers = size === 'one' ? concurrency : 1;
  const inMemory = Math.max(LEAST.bytes, Math.floor((heapBytes * bytes) / sharers));
  return {
    bytes: Math.min(maxBytes, inMemory),
    isByMemory: inMemory < maxBytes,
    parsedBytes: Math.min(maxWeight, Math.max(LEAST.weight, Math.floor((heapBytes * weight) / sharers))),
  };
}
