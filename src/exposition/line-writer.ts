import type { Sample } from '../metrics/samples.ts';
import { RequestError } from '../runtime/errors.ts';
import { type Corrections, formatLabels, formatValue } from './format.ts';

/** Lines of one task and one family in one string. Many lines are split into several blocks. */
export interface LineBlock<Family> {
  readonly family: Family;
  readonly text: string;
  readonly samples: number;
  readonly bytes: number;
}

/** The lines of a task before they are exposed, ordered by family. */
export interface PreparedLines<Family> {
  readonly lines: readonly LineBlock<Family>[];
  readonly corrected: Corrections;
}

/** So many lines are written between two yields, which takes about 50 microseconds. */
const LINES_PER_STEP = 32;

/** A line has four parts: name and labels, a space, the value, the line end. */
const PARTS_PER_LINE = 4;

/** The length after which a block ends, in characters: encoding them takes some 50 microseconds. */
const TEXT_LENGTH = 64 * 1024;

/**
 * Writes samples by family; `familyOf` returns the family of a sample's name. Of two samples with the same name and labels
 * the later one is written, because Prometheus would reject a scrape with duplicates. The generator yields where it may be
 * interrupted, and throws a RequestError `oversize` above `maxBytes`.
 */
export function* writeLines<Family>(
  samples: Iterable<Sample>,
  familyOf: (sampleName: string) => Family,
  maxBytes: number,
): Generator<void, PreparedLines<Family>> {
  const corrected: Corrections = { cut: 0, duplicates: 0 };
  const families = new Map<Family, Map<string, number>>();
  let written = 0;
  let length = 0;
  for (const { name, labels, value } of samples) {
    const family = familyOf(name);
    const series = name + formatLabels(labels, corrected);
    length += series.length;
    if (length > maxBytes) throw tooLarge(maxBytes);
    const values = families.get(family) ?? new Map<string, number>();
    families.set(family, values.set(series, value));
    written += 1;
    if (written % LINES_PER_STEP === 0) yield;
  }
  const lines: LineBlock<Family>[] = [];
  let bytes = 0;
  let series = 0;
  for (const [family, values] of families) {
    series += values.size;
    for (const block of blocksOf(family, values)) {
      if (block !== undefined) {
        lines.push(block);
        bytes += block.bytes;
      }
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      yield;
    }
  }
  // The copy has no spare capacity, which would be most of the memory of a small list.
  return { lines: lines.slice(), corrected: { ...corrected, duplicates: written - series } };
}

/** Yields the blocks of a family, and undefined where it may be interrupted. */
function* blocksOf<Family>(
  family: Family,
  values: ReadonlyMap<string, number>,
): Generator<LineBlock<Family> | undefined> {
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
    if (length >= TEXT_LENGTH) yield takeBlock();
    else if (parts.length % (LINES_PER_STEP * PARTS_PER_LINE) === 0) yield undefined;
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
