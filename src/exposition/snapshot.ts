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
  /** The texts of each buffer: the lines by family, with its header first. */
  readonly #runs: readonly (readonly Text[])[];
  #readers = 0;
  #isLatest = true;
  /** The buffers that are kept, each in the place of its run. */
  #kept: Buffer[] = [];
  #deflated: Promise<CompressedPart> | undefined;

  /** `bytes` is the size of all lines without the headers. */
  constructor(families: Iterable<FamilyLines>, bytes: number, format: Format) {
    const runs = new Runs();
    let headers = 0;
    for (const { header, lines } of families) {
      const text = headerLines(header, format);
      const first = { text, bytes: Buffer.byteLength(text) };
      headers += first.bytes;
      runs.add(first);
      for (const line of lines) runs.add(line);
    }
    this.#runs = runs.all;
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
    for (const [index, run] of this.#runs.entries()) {
      // What is kept may be dropped while a reader is between two buffers.
      const kept = this.#kept[index];
      if (kept !== undefined) yield kept;
      else if (this.#readers > 1 && this.#isLatest) yield this.#keep(index, run);
      else yield encode(run, memoryFor);
    }
  }

  #keep(index: number, run: readonly Text[]): Buffer {
    const buffer = encode(run, Buffer.allocUnsafeSlow);
    this.#kept[index] = buffer;
    return buffer;
  }

  /** Compresses the snapshot when first called. */
  deflated(): Promise<CompressedPart> {
    const memoryFor = reusableMemory();
    const runs = this.#runs;
    function* buffers(): Generator<Buffer> {
      for (const run of runs) yield encode(run, memoryFor);
    }
    this.#deflated ??= deflate(buffers());
    return this.#deflated;
  }
}

/** Texts in their order, as many in each run as fill a buffer. */
class Runs {
  readonly all: Text[][] = [];
  #bytes = BUFFER_BYTES;

  add(text: Text): void {
    if (this.#bytes >= BUFFER_BYTES) {
      this.all.push([]);
      this.#bytes = 0;
    }
    this.all.at(-1)?.push(text);
    this.#bytes += text.bytes;
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

/** Encodes texts into one buffer; `memoryFor` provides memory for a number of bytes. */
function encode(texts: readonly Text[], memoryFor: (bytes: number) => Buffer): Buffer {
  const memory = memoryFor(texts.reduce((sum, { bytes }) => sum + bytes, 0));
  let at = 0;
  for (const { text } of texts) at += memory.write(text, at);
  return memory.subarray(0, at);
}
