import type { Sample } from '../metrics/samples.ts';
import { RequestError } from '../runtime/errors.ts';
import { type Corrections, formatLabels, formatValue } from './format.ts';

/** Lines of one task and one family, as a text; many lines are several texts. */
export interface LineBlock {
  readonly family: string;
  readonly text: string;
  readonly samples: number;
  readonly bytes: number;
}

/** A task's lines, written but not exposed yet; those of a family stand together. */
export interface PreparedLines {
  readonly lines: readonly LineBlock[];
  readonly corrected: Corrections;
}

/** How many lines to write between two yields: about 50 microseconds. */
const LINES_A_STEP = 32;

/** Name and labels, a space, the value, the end. */
const PARTS_A_LINE = 4;

/** A text of more characters than this ends with its line: encoding it takes some 50 microseconds. */
const TEXT_LENGTH = 64 * 1024;

/**
 * Writes samples by family; `familyOf` returns the family of a sample's name. Of two with the same name and labels the later
 * one counts: Prometheus would reject a scrape with duplicates. Yields where it may be interrupted. Throws a RequestError
 * `oversize` above `maxBytes`.
 */
export function* writeLines(
  samples: Iterable<Sample>,
  familyOf: (sampleName: string) => string,
  maxBytes: number,
): Generator<void, PreparedLines> {
  const corrected: Corrections = { cut: 0, duplicates: 0 };
  const families = new Map<string, Map<string, number>>();
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
    if (written % LINES_A_STEP === 0) yield;
  }
  const lines: LineBlock[] = [];
  let bytes = 0;
  for (const [family, values] of families) {
    written -= values.size;
    for (const text of textsOf(family, values)) {
      if (text !== undefined) {
        lines.push(text);
        bytes += text.bytes;
      }
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      yield;
    }
  }
  // A copy has no room for more, which would be most of what the list of a small task takes.
  return { lines: lines.slice(), corrected: { ...corrected, duplicates: written } };
}

/** The texts of a family; undefined where it may be interrupted. */
function* textsOf(family: string, values: ReadonlyMap<string, number>): Generator<LineBlock | undefined> {
  let parts: string[] = [];
  let length = 0;
  const joined = () => {
    // Joined, not added: a text put together by adding keeps all of its parts alive.
    const text = parts.join('');
    const samples = parts.length / PARTS_A_LINE;
    parts = [];
    length = 0;
    return { family, text, samples, bytes: Buffer.byteLength(text) };
  };
  for (const [series, value] of values) {
    const number = formatValue(value);
    parts.push(series, ' ', number, '\n');
    length += series.length + number.length + 2;
    if (length >= TEXT_LENGTH) yield joined();
    else if (parts.length % (LINES_A_STEP * PARTS_A_LINE) === 0) yield undefined;
  }
  if (length > 0) yield joined();
}

function tooLarge(maxBytes: number): RequestError {
  const lines = `the lines would take more than the remaining ${maxBytes} bytes of memory`;
  return new RequestError(
    'oversize',
    `writing the samples: ${lines}; give the process more memory, or export fewer series`,
  );
}
