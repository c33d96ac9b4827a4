import { BLOCK_BYTES, Block, type Lines } from './block.ts';
import { allocate, ownCopy, writeText } from './buffer-memory.ts';
import { SeriesHashes } from './series-hashes.ts';

/** The lines of a large task are split into buffers of this size: compressing one takes one or two milliseconds. */
const PIECE_BYTES = 256 * 1024;

/** How many bytes of lines to collect as text before encoding them together. */
const GATHERED_BYTES = BLOCK_BYTES / 2;

/** One task's lines of one family while they are written. */
export class FamilyLines {
  readonly #family: string;
  readonly #seen = new SeriesHashes();
  readonly #pieces: Buffer[] = [];
  #piece: Buffer | undefined;
  #pieceUsed = 0;
  #gathered = '';
  #gatheredBytes = 0;
  #bytes = 0;
  #samples = 0;
  /** The latest value of each series that seems to have a line already. */
  #again: Map<string, string> | undefined;
  #repeats = 0;

  constructor(family: string) {
    this.#family = family;
  }

  /**
   * Adds a line. `series` is its name and labels, `bytes` their size, `hash` a number above 0. A line whose series seems to
   * be here already is kept for `rewritten`, which finds out.
   */
  add(series: string, bytes: number, value: string, hash: number): void {
    if (this.#seen.add(hash)) {
      this.#write(series, bytes, value);
      return;
    }
    this.#again ??= new Map();
    this.#again.set(series, value);
    this.#repeats += 1;
  }

  get hasRepeats(): boolean {
    return this.#repeats > 0;
  }

  /** All lines; {@link FamilyLines.rewritten} if there are repeats. */
  lines(): Lines {
    const family = this.#family;
    const samples = this.#samples;
    const bytes = this.#bytes;
    // Without a spread, which takes longer than writing the lines.
    if (bytes === this.#gatheredBytes) return { family, samples, bytes, duplicates: 0, text: this.#gathered };
    const blocks = this.#takePieces().map((lines) => new Block(family, lines));
    return { family, samples, bytes, duplicates: 0, blocks };
  }

  /** All lines, written again: each series once with its latest value. */
  *rewritten(): Generator<void, Lines> {
    const again = new Map(this.#again);
    const made = new FamilyLines(this.#family);
    const write = (series: string, value: string) => made.#write(series, Buffer.byteLength(series), value);
    for (const piece of this.#takePieces()) {
      for (const line of piece.toString().split('\n').slice(0, -1)) {
        const end = line.lastIndexOf(' ');
        const series = line.slice(0, end);
        write(series, again.get(series) ?? line.slice(end + 1));
        again.delete(series);
        yield;
      }
    }
    for (const [series, value] of again) write(series, value);
    return { ...made.lines(), duplicates: this.#repeats - again.size };
  }

  #write(series: string, bytes: number, value: string): void {
    const size = bytes + value.length + 2;
    if (this.#gatheredBytes + size > GATHERED_BYTES) this.#spill();
    this.#gathered += `${series} ${value}\n`;
    this.#gatheredBytes += size;
    this.#bytes += size;
    this.#samples += 1;
  }

  #takePieces(): readonly Buffer[] {
    this.#spill();
    this.#endPiece();
    return this.#pieces;
  }

  /** Encodes the collected text. */
  #spill(): void {
    const bytes = this.#gatheredBytes;
    if (this.#piece === undefined || this.#pieceUsed + bytes > this.#piece.length) {
      this.#endPiece();
      this.#piece = allocate(Math.max(PIECE_BYTES, bytes));
    }
    writeText(this.#piece, this.#gathered, this.#pieceUsed, bytes);
    this.#pieceUsed += bytes;
    this.#gathered = '';
    this.#gatheredBytes = 0;
  }

  #endPiece(): void {
    if (this.#piece === undefined) return;
    const used = this.#piece.subarray(0, this.#pieceUsed);
    // The last piece is seldom full.
    this.#pieces.push(used.length + GATHERED_BYTES > this.#piece.length ? used : ownCopy(used));
    this.#pieceUsed = 0;
  }
}
