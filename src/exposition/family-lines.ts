import { BLOCK_BYTES, Block, type Lines } from './block.ts';
import { allocate, ownCopy, writeText } from './buffer-memory.ts';
import { SeriesIndex } from './series-index.ts';

/** The lines of a large task are split into buffers of this size: compressing one takes one or two milliseconds. */
const PIECE_BYTES = 256 * 1024;

/** How many bytes of lines to collect as text before encoding them together. */
const GATHERED_BYTES = BLOCK_BYTES / 2;

/** Shared by all instances without pieces: most families of most tasks. */
const NONE: never[] = [];

/** One task's lines of one family while they are written: each series once, with its latest value. */
export class FamilyLines {
  readonly #family: string;
  readonly #index = new SeriesIndex();
  #pieces: Buffer[] = NONE;
  /** The offset of each piece from the first line. */
  #pieceStarts: number[] = NONE;
  /** Values that replace earlier ones, by line. */
  #later: Map<number, string> | undefined;
  #piece: Buffer | undefined;
  #pieceUsed = 0;
  #gathered = '';
  #gatheredBytes = 0;
  #bytes = 0;

  constructor(family: string) {
    this.#family = family;
  }

  /**
   * Writes a line; `bytes` and `hash` belong to its name and labels. Returns false if its value replaced that of an
   * earlier line of the same series.
   */
  add(name: string, labels: string, bytes: number, hash: number, value: string): boolean {
    for (let line = this.#index.find(hash, -1); line !== -1; line = this.#index.find(hash, line)) {
      if (!this.#is(line, name + labels, bytes)) continue;
      this.#later ??= new Map();
      this.#later.set(line, value);
      return false;
    }
    const size = bytes + value.length + 2;
    if (this.#gatheredBytes + size > GATHERED_BYTES) this.#spill();
    this.#index.add(hash, this.#bytes);
    this.#gathered += `${name}${labels} ${value}\n`;
    this.#gatheredBytes += size;
    this.#bytes += size;
    return true;
  }

  /** All lines. A generator, because replaced values mean that every line is written again. */
  *finish(): Generator<void, Lines> {
    const family = this.#family;
    const samples = this.#index.count;
    if (this.#later !== undefined) return yield* this.#rewritten(this.#later);
    if (this.#piece === undefined && this.#pieces.length === 0) {
      return { family, samples, text: this.#gathered, bytes: this.#gatheredBytes, blocks: NONE };
    }
    this.#spill();
    this.#endPiece();
    return { family, samples, text: '', bytes: 0, blocks: this.#pieces.map((lines) => new Block(lines)) };
  }

  *#rewritten(later: ReadonlyMap<number, string>): Generator<void, Lines> {
    this.#spill();
    this.#endPiece();
    const lines = new FamilyLines(this.#family);
    for (let line = 0; line < this.#index.count; line += 1) {
      const text = this.#textOf(line);
      const series = text.slice(0, text.lastIndexOf(' '));
      const value = later.get(line) ?? text.slice(series.length + 1, -1);
      // Each series is here once, so its number can serve as its hash.
      lines.add(series, '', Buffer.byteLength(series), line, value);
      yield;
    }
    return yield* lines.finish();
  }

  /** Whether a line belongs to this series: two series can have one hash. */
  #is(line: number, series: string, bytes: number): boolean {
    if (this.#endOf(line) - this.#index.startOf(line) < bytes + 2) return false;
    this.#spill();
    const text = this.#textOf(line);
    return text.startsWith(series) && text.lastIndexOf(' ') === series.length;
  }

  #endOf(line: number): number {
    return line + 1 < this.#index.count ? this.#index.startOf(line + 1) : this.#bytes;
  }

  #textOf(line: number): string {
    const start = this.#index.startOf(line);
    const starts = this.#pieceStarts;
    let low = 0;
    for (let high = starts.length - 1; low < high; ) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= start) low = middle;
      else high = middle - 1;
    }
    const from = starts[low] ?? 0;
    const piece = this.#pieces[low] ?? this.#piece;
    return piece?.toString('utf8', start - from, this.#endOf(line) - from) ?? '';
  }

  /** Encodes the collected text. */
  #spill(): void {
    const bytes = this.#gatheredBytes;
    if (bytes === 0) return;
    const piece = this.#pieceFor(bytes);
    writeText(piece, this.#gathered, this.#pieceUsed, bytes);
    this.#pieceUsed += bytes;
    this.#gathered = '';
    this.#gatheredBytes = 0;
  }

  /** The current piece if these bytes fit, otherwise a new one. */
  #pieceFor(bytes: number): Buffer {
    if (this.#piece !== undefined && this.#pieceUsed + bytes <= this.#piece.length) return this.#piece;
    this.#endPiece();
    this.#piece = allocate(Math.max(PIECE_BYTES, bytes));
    if (this.#pieceStarts === NONE) this.#pieceStarts = [];
    this.#pieceStarts.push(this.#bytes - bytes);
    return this.#piece;
  }

  #endPiece(): void {
    if (this.#piece === undefined) return;
    const used = this.#piece.subarray(0, this.#pieceUsed);
    if (this.#pieces === NONE) this.#pieces = [];
    // The last piece is seldom full.
    this.#pieces.push(used.length + GATHERED_BYTES > this.#piece.length ? used : ownCopy(used));
    this.#piece = undefined;
    this.#pieceUsed = 0;
  }
}
