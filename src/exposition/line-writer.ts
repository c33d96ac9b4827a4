import type { Sample } from '../metrics/samples.ts';
import { RequestError } from '../runtime/errors.ts';
import { getOrCreate } from '../runtime/maps.ts';
import { type Corrections, formatLabels, formatValue } from './format.ts';

/** Lines of one task and one family in one string. Many lines are split into several blocks. */
export interface LineBlock<Family> {
  readonly family: Family;
  readonly text: string;
  readonly samples: number;
  readonly bytes: number;
}

/** A line has four parts: name and labels, a space, the value, the line end. */
const PARTS_PER_LINE = 4;

/** The length after which a block ends, in characters. */
const BLOCK_LENGTH = 64 * 1024;

/**
 * Writes the samples of one task, by family. Of two samples with the same name and labels the later one is written, because
 * Prometheus would reject a scrape with duplicates.
 */
export class LineWriter<Family> {
  readonly #familyOf: (sampleName: string) => Family;
  readonly #maxBytes: number;
  readonly #corrected = { cut: 0, duplicates: 0 };
  readonly #families = new Map<Family, Map<string, number>>();
  #length = 0;

  /** `familyOf` returns the family of a sample's name. Above `maxBytes`, `add` and `blocks` throw a RequestError `oversize`. */
  constructor(familyOf: (sampleName: string) => Family, maxBytes: number) {
    this.#familyOf = familyOf;
    this.#maxBytes = maxBytes;
  }

  get corrected(): Corrections {
    return this.#corrected;
  }

  add({ name, labels, value }: Sample): void {
    const family = this.#familyOf(name);
    const series = name + formatLabels(labels, this.#corrected);
    this.#length += series.length;
    if (this.#length > this.#maxBytes) throw tooLarge(this.#maxBytes);
    const values = getOrCreate(this.#families, family, () => new Map<string, number>());
    if (values.has(series)) this.#corrected.duplicates += 1;
    values.set(series, value);
  }

  /** Called after all samples were added. */
  *blocks(): Generator<LineBlock<Family>> {
    let bytes = 0;
    for (const [family, values] of this.#families) {
      for (const block of blocksOf(family, values)) {
        bytes += block.bytes;
        if (bytes > this.#maxBytes) throw tooLarge(this.#maxBytes);
        yield block;
      }
    }
  }
}

function* blocksOf<Family>(family: Family, values: ReadonlyMap<string, number>): Generator<LineBlock<Family>> {
  let parts: string[] = [];
  let length = 0;
  const takeBlock = () => {
    // The parts are joined, because a string that is built by adding keeps all of its parts in memory.
    const text = parts.join('');
    const samples = parts.length / PARTS_PER_LINE;
    parts = [];
    length = 0;
    return { family, text, samples, bytes: Buffer.byteLength(text) };
  };
  for (const [series, value] of values) {
    const number = formatValue(value);
    parts.push(series, ' ', number, '\n');
    length += series.length + number.length + 2;
    if (length >= BLOCK_LENGTH) yield takeBlock();
  }
  if (length > 0) yield takeBlock();
}

function tooLarge(maxBytes: number): RequestError {
  const lines = `the lines would take more than the remaining ${maxBytes} bytes of memory`;
  return new RequestError(
    'oversize',
    `writing the samples: ${lines}; give the process more memory, or export fewer series`,
  );
}
