import { type FamilyHeader, type Format, headerLines } from './format.ts';
import { type CompressedPart, deflate } from './gzip.ts';

/** Lines are encoded in buffers of about this size: enough to keep a socket busy, in one or two milliseconds. */
const BUFFER_BYTES = 256 * 1024;

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
  /** The buffers that are kept, each at its place in the order. */
  #kept: Buffer[] = [];
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

  /** Called when other lines are exposed: drops the kept buffers, because a slow reader must not keep them in memory. */
  markReplaced(): void {
    this.#isLatest = false;
    this.#kept = [];
  }

  /** Yields all bytes. Each buffer may be overwritten when the next one is requested. */
  *buffers(): Generator<Buffer> {
    this.#readers += 1;
    const memoryFor = reusableMemory();
    let index = 0;
    for (const texts of runsOf(this.#texts)) {
      // What is kept may be dropped while a reader is between two buffers.
      const kept = this.#kept[index];
      if (kept !== undefined) yield kept;
      else if (this.#readers > 1 && this.#isLatest) yield this.#keep(index, texts);
      else yield encode(texts, memoryFor);
      index += 1;
    }
  }

  #keep(index: number, texts: readonly Text[]): Buffer {
    const buffer = encode(texts, Buffer.allocUnsafeSlow);
    this.#kept[index] = buffer;
    return buffer;
  }

  /** Compresses the snapshot when first called. */
  deflated(): Promise<CompressedPart> {
    this.#deflated ??= deflate(this.#encoded());
    return this.#deflated;
  }

  *#encoded(): Generator<Buffer> {
    const memoryFor = reusableMemory();
    for (const texts of runsOf(this.#texts)) yield encode(texts, memoryFor);
  }
}

/** Yields the texts in their order, in groups that each fill a buffer. */
function* runsOf(families: readonly (readonly Text[])[]): Generator<readonly Text[]> {
  let run: Text[] = [];
  let bytes = 0;
  for (const family of families) {
    for (const text of family) {
      run.push(text);
      bytes += text.bytes;
      if (bytes < BUFFER_BYTES) continue;
      yield run;
      run = [];
      bytes = 0;
    }
  }
  if (bytes > 0) yield run;
}

/** Returns a function that provides the same memory for each buffer. */
function reusableMemory(): (bytes: number) => Buffer {
  let memory = Buffer.alloc(0);
  return (bytes) => {
    if (bytes > memory.length) memory = Buffer.allocUnsafeSlow(bytes + BUFFER_BYTES / 4);
    return memory;
  };
}

/** Encodes texts into one buffer; `memoryFor` provides memory for a number of bytes. */
function encode(texts: readonly Text[], memoryFor: (bytes: number) => Buffer): Buffer {
  const memory = memoryFor(texts.reduce((sum, { bytes }) => sum + bytes, 0));
  let at = 0;
  for (const { text } of texts) at += memory.write(text, at);
  return memory.subarray(0, at);
}
