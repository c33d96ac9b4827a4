import { type FamilyHeader, type Format, headerLines } from './format.ts';
import { type Deflated, deflate } from './gzip.ts';

/** Lines are encoded in buffers of about this size. */
const BUFFER_BYTES = 128 * 1024;

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
export class Moment {
  readonly bytes: number;
  readonly #runs: readonly (readonly Text[])[];
  readonly #kept: (Buffer | undefined)[] = [];
  #keeps = true;
  #readers = 0;
  #deflated: Promise<Deflated> | undefined;

  constructor(families: Iterable<FamilyLines>, format: Format) {
    const runs: Text[][] = [];
    let run: Text[] = [];
    let size = BUFFER_BYTES;
    let bytes = 0;
    const add = (text: Text) => {
      if (size >= BUFFER_BYTES) {
        run = [];
        runs.push(run);
        size = 0;
      }
      run.push(text);
      size += text.bytes;
      bytes += text.bytes;
    };
    for (const { header, lines } of families) {
      const text = headerLines(header, format);
      add({ text, bytes: Buffer.byteLength(text) });
      lines.forEach(add);
    }
    this.#runs = runs;
    this.bytes = bytes;
  }

  /** Later lines are exposed: a slow reader must not keep all buffers alive. */
  isPast(): void {
    this.#keeps = false;
    this.#kept.length = 0;
  }

  *buffers(): Generator<Buffer> {
    this.#readers += 1;
    for (const [index, run] of this.#runs.entries()) {
      const buffer = this.#kept[index] ?? encode(run, Buffer.allocUnsafeSlow(bytesOf(run)));
      if (this.#keeps && this.#readers > 1) this.#kept[index] = buffer;
      yield buffer;
    }
  }

  /** Compresses it once. */
  deflated(): Promise<Deflated> {
    this.#deflated ??= deflate(overwritten(this.#runs));
    return this.#deflated;
  }
}

/** The runs one after the other, in the same memory as long as they fit. */
function* overwritten(runs: readonly (readonly Text[])[]): Generator<Buffer> {
  let memory = Buffer.alloc(0);
  for (const run of runs) {
    const bytes = bytesOf(run);
    if (bytes > memory.length) memory = Buffer.allocUnsafeSlow(Math.max(bytes, 2 * BUFFER_BYTES));
    yield encode(run, memory);
  }
}

function bytesOf(run: readonly Text[]): number {
  return run.reduce((sum, { bytes }) => sum + bytes, 0);
}

function encode(run: readonly Text[], memory: Buffer): Buffer {
  let at = 0;
  for (const { text } of run) at += memory.write(text, at);
  return memory.subarray(0, at);
}
