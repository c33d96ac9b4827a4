import { type FamilyHeader, type Format, headerLines } from './format.ts';
import { type CompressedPart, deflate } from './gzip.ts';

/** Lines are encoded in buffers of about this size: enough to keep a socket busy, in a short event-loop turn. */
const BUFFER_BYTES = 512 * 1024;

interface Text {
  readonly text: string;
  readonly bytes: number;
}

/** The lines of a family. */
interface FamilyLines {
  readonly header: FamilyHeader;
  readonly lines: readonly Text[];
}

/**
 * All lines as they were at one moment, in one format. It refers to immutable strings; buffers are created when they are
 * read. From the second reader on, the latest snapshot keeps its buffers, because a second reader shows that nothing has
 * changed for a while.
 */
export class ExpositionSnapshot {
  readonly bytes: number;
  /** The lines by family, with its header first. */
  readonly #texts: readonly (readonly Text[])[];
  #readers = 0;
  #isLatest = true;
  #kept: readonly Buffer[] | undefined;
  /** The buffers that the second reader has created so far and stores for later readers. */
  #keeping: Buffer[] | undefined;
  #deflated: Promise<CompressedPart> | undefined;

  /** `bytes` is the size of all lines without the headers. */
  constructor(families: Iterable<FamilyLines>, bytes: number, format: Format) {
    let headers = 0;
    this.#texts = Array.from(families, ({ header, lines }) => {
      const text = headerLines(header, format);
      const first = { text, bytes: Buffer.byteLength(text) };
      headers += first.bytes;
      return [first, ...lines];
    });
    this.bytes = bytes + headers;
  }

  /** Called when other lines are exposed: drops the stored buffers, because a slow reader must not keep them in memory. */
  markReplaced(): void {
    this.#isLatest = false;
    this.#keeping?.splice(0);
    this.#keeping = undefined;
    this.#kept = undefined;
  }

  /** Yields all bytes. Each buffer may be overwritten when the next one is requested. */
  *buffers(): Generator<Buffer> {
    if (this.#kept !== undefined) return yield* this.#kept;
    this.#readers += 1;
    const made: Buffer[] = [];
    if (this.#readers > 1 && this.#isLatest) this.#keeping ??= made;
    if (this.#keeping !== made) return yield* encode(this.#texts, reusableMemory());
    for (const buffer of encode(this.#texts, (bytes) => Buffer.allocUnsafeSlow(bytes))) {
      if (this.#keeping === made) made.push(buffer);
      yield buffer;
    }
    if (this.#keeping === made) this.#kept = made;
  }

  /** Compresses the snapshot when first called. */
  deflated(): Promise<CompressedPart> {
    this.#deflated ??= deflate(encode(this.#texts, reusableMemory()));
    return this.#deflated;
  }
}

/** Returns a function that provides the same memory for each buffer. */
function reusableMemory(): (bytes: number) => Buffer {
  let memory = Buffer.alloc(0);
  return (bytes) => {
    if (bytes > memory.length) memory = Buffer.allocUnsafeSlow(bytes + BUFFER_BYTES / 4);
    return memory;
  };
}

/** Encodes texts in their order; `memoryFor` provides memory for a number of bytes. */
function* encode(texts: readonly (readonly Text[])[], memoryFor: (bytes: number) => Buffer): Generator<Buffer> {
  let run: Text[] = [];
  let bytes = 0;
  const encodeRun = () => {
    const memory = memoryFor(bytes);
    let at = 0;
    for (const { text } of run) at += memory.write(text, at);
    run = [];
    bytes = 0;
    return memory.subarray(0, at);
  };
  for (const family of texts) {
    for (const text of family) {
      run.push(text);
      bytes += text.bytes;
      if (bytes >= BUFFER_BYTES) yield encodeRun();
    }
  }
  if (bytes > 0) yield encodeRun();
}
