export interface ResponseLimits {
  /** The largest body in bytes, compressed and uncompressed. */
  readonly bytes: number;
  /** Whether the available memory, and not `MAX_RESPONSE_BYTES`, sets the limit `bytes`. */
  readonly isByMemory: boolean;
  /** The most memory of the parsed body in bytes, as `estimateMemory` estimates it. */
  readonly parsedBytes: number;
}

export interface ResponseMemory {
  readonly heapBytes: number;
  /** `MAX_RESPONSE_BYTES`: the limit for every response, however much memory there is. */
  readonly maxBytes: number;
  readonly concurrency: number;
}

const MIB = 1024 * 1024;

const MIN = { parsedBytes: 64 * 1024, bytes: 32 * 1024 } as const;

/**
 * The sizes of responses. `account` has all data of an account, and one such response is read at a time. `list` has all
 * objects of one type. `inventory` is one of four such lists that are kept together. `object` is about one object, and as
 * many of these are read at once as requests are in flight.
 *
 * `parsed` and `bytes` are shares of the heap; for `object` all responses together have that share. Every response has
 * its own share, so no response waits for memory or takes the memory of another. Bodies are outside of the heap; in a
 * container the heap gets half of the memory, and the process itself much of the other half. A heap of 128 MiB gives 8, 4,
 * 2 and 1 MiB, and 28 MiB for everything that is polled at once by default. Above `maxParsed` time is the limit, because
 * the collector reads the parsed response in one turn of the event loop.
 */
const SIZES = {
  account: { parsed: 1 / 8, bytes: 1 / 16, maxParsed: Number.POSITIVE_INFINITY },
  list: { parsed: 1 / 16, bytes: 1 / 32, maxParsed: 64 * MIB },
  inventory: { parsed: 1 / 32, bytes: 1 / 64, maxParsed: 64 * MIB },
  object: { parsed: 1 / 8, bytes: 1 / 16, maxParsed: 16 * MIB },
} as const;

export type ResponseSize = keyof typeof SIZES;

export function responseLimits(
  { heapBytes, maxBytes, concurrency }: ResponseMemory,
  size: ResponseSize,
): ResponseLimits {
  const { parsed, bytes, maxParsed } = SIZES[size];
  const sharers = size === 'object' ? concurrency : 1;
  const inMemory = Math.max(MIN.bytes, Math.floor((heapBytes * bytes) / sharers));
  return {
    bytes: Math.min(maxBytes, inMemory),
    isByMemory: inMemory < maxBytes,
    parsedBytes: Math.min(maxParsed, Math.max(MIN.parsedBytes, Math.floor((heapBytes * parsed) / sharers))),
  };
}
