/**
 * What a part of the program keeps over restarts, in pieces of JSON. A piece replaces what earlier pieces said about the
 * same keys, so it makes no difference if it is read twice.
 */
export interface Kept {
  /** The name of the part in the file. */
  readonly part: string;
  /** What has changed since the last call. The cost follows the changes, not the size of the state. */
  changes(): Iterable<unknown>;
  /** The whole state. */
  all(): Iterable<unknown>;
  /**
   * Begins to restore what another process has kept. `shiftMs` turns a monotonic time of that process into one of this
   * process; `elapsedMs` is the time since that process wrote last, and is never negative.
   */
  restore(shiftMs: number, elapsedMs: number): Restoration;
}

export interface Restoration {
  /** Reads a piece; throws if it makes no sense. */
  put(piece: unknown): void;
  /** Replaces the state of the part by what was read. */
  commit(): void;
}

/** How many values are in one piece: it is written, and read, in one turn of the event loop. */
const VALUES_PER_PIECE = 100;

/** The values in pieces of the form `{ [name]: [value, …] }`. */
export function* inPieces<Value>(
  name: string,
  values: Iterable<Value>,
): Generator<Readonly<Record<string, readonly Value[]>>> {
  let piece: Value[] = [];
  for (const value of values) {
    piece.push(value);
    if (piece.length < VALUES_PER_PIECE) continue;
    yield { [name]: piece };
    piece = [];
  }
  if (piece.length > 0) yield { [name]: piece };
}
