import { type FamilyHeader, type Format, headerLines } from './format.ts';
import { type CompressedPart, deflate } from './gzip.ts';

/** Lines are encoded in buffers of about this size: enough to keep a socket busy, and a short turn of the event loop. */
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
 * All lines as they were at one moment, in one format. It refers to texts, which nothing changes; buffers are made when
 * they are read. While the moment is the latest, they are kept from the second reader on: then nothing changes for a while.
 */
export class ExpositionSnapshot {
  readonly bytes: number;
  /** By family, its header first. */
  readonly #texts: readonly (readonly Text[])[];
  #readers = 0;
  #isLatest = true;
  #kept: readonly Buffer[] | undefined;
  /** What the one reader has made that makes them for others too. */
  #keeping: Buffer[] | undefined;
  #deflated: Promise<CompressedPart> | undefined;

  /** `bytes`: the size of all lines. */
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

  /** Later lines are exposed: a slow reader must not keep all buffers alive. */
  markReplaced(): void {
    this.#isLatest = false;
    this.#keeping?.splice(0);
    this.#keeping = undefined;
    this.#kept = undefined;
  }

  /** Each may be overwritten when the next one is asked for. */
  *buffers(): Generator<Buffer> {
    if (this.#kept !== undefined) return yield* this.#kept;
    this.#readers += 1;
    const made: Buffer[] = [];
    if (this.#readers > 1 && this.#isLatest) this.#keeping ??= made;
    if (this.#keeping !== made) return yield* encoded(this.#texts, reused());
    for (const buffer of encoded(this.#texts, (bytes) => Buffer.allocUnsafeSlow(bytes))) {
      if (this.#keeping === made) made.push(buffer);
      yield buffer;
    }
    if (this.#keeping === made) this.#kept = made;
  }

  /** Compresses it once. */
  deflated(): Promise<CompressedPart> {
    this.#deflated ??= deflate(encoded(this.#texts, reused()));
    return this.#deflated;
  }
}

/** Memory that is used again for each buffer. */
function reused(): (bytes: number) => Buffer {
  let memory = Buffer.alloc(0);
  return (bytes) => {
    if (bytes > memory.length) memory = Buffer.allocUnsafeSlow(bytes + BUFFER_BYTES / 4);
    return memory;
  };
}

/** Encodes texts in their order, with memory that has room for so many bytes. */
function* encoded(texts: readonly (readonly Text[])[], memoryFor: (bytes: number) => Buffer): Generator<Buffer> {
  let run: Text[] = [];
  let bytes = 0;
  const encode = () => {
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
      if (bytes >= BUFFER_BYTES) yield encode();
    }
  }
  if (bytes > 0) yield encode();
}
