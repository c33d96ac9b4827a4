/** What one answer may take of this process. */
export interface AnswerLimits {
  /** Bytes of its body at most, packed and unpacked. */
  readonly bytes: number;
  /** Whether memory, and not `MAX_RESPONSE_BYTES`, limits the bytes. */
  readonly isByMemory: boolean;
  /** Bytes of memory that what is made of it may take, as `burdenOf` estimates them. */
  readonly weight: number;
}

/** What the limits of answers follow from. */
export interface AnswerRoom {
  /** How large the heap may become: the process ends where that does not suffice. */
  readonly heapBytes: number;
  /** `MAX_RESPONSE_BYTES`: no answer may be larger, however much memory there is. */
  readonly maxBytes: number;
  /** Requests of one API in flight at most. */
  readonly concurrency: number;
}

const MIB = 1024 * 1024;

/** However many requests may be in flight, a short answer has room. */
const LEAST = { weight: 64 * 1024, bytes: 32 * 1024 } as const;

/**
 * How large answers are by nature. `everything`: all of an account, of which there is one at a time. `list`: what an
 * account has of something. `inventory`: one of four such lists that are held at once. `one`: about one thing; there may be as many at once as requests.
 *
 * `weight` and `bytes` are shares of the heap, those of `one` for all of them together. Each answer has its share for
 * itself, so nothing has to be waited for and no answer can take the memory of another. Bodies lie beside the heap; of a
 * container the heap may have half, and much of the other half is the process itself. In 128 MiB it comes to 8, 4, 2 and
 * 1 MiB, and all that is polled by default at once to 28. `mostWeight`: more would not be a matter of memory but
 * of time, for what is read in one turn of the event loop.
 */
const SIZES = {
  everything: { weight: 1 / 8, bytes: 1 / 16, mostWeight: Number.POSITIVE_INFINITY },
  list: { weight: 1 / 16, bytes: 1 / 32, mostWeight: 64 * MIB },
  inventory: { weight: 1 / 32, bytes: 1 / 64, mostWeight: 64 * MIB },
  one: { weight: 1 / 8, bytes: 1 / 16, mostWeight: 16 * MIB },
} as const;

/** How large an answer is by nature. */
export type AnswerSize = keyof typeof SIZES;

/** The limits of an answer of a size. */
export function answerLimits({ heapBytes, maxBytes, concurrency }: AnswerRoom, size: AnswerSize): AnswerLimits {
  const { weight, bytes, mostWeight } = SIZES[size];
  const sharers = size === 'one' ? concurrency : 1;
  const inMemory = Math.max(LEAST.bytes, Math.floor((heapBytes * bytes) / sharers));
  return {
    bytes: Math.min(maxBytes, inMemory),
    isByMemory: inMemory < maxBytes,
    weight: Math.min(mostWeight, Math.max(LEAST.weight, Math.floor((heapBytes * weight) / sharers))),
  };
}
