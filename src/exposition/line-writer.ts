import type { Sample } from '../metrics/samples.ts';
import { RequestError } from '../runtime/errors.ts';
import { getOrCreate } from '../runtime/maps.ts';
import { type Corrections, type FamilyHeader, formatLabels, formatValue } from './format.ts';

/** Lines of one task and one family in one string. Many lines are split into several blocks. */
export interface LineBlock {
  readonly task: string;
  readonly family: Family;
  readonly text: string;
  readonly samples: number;
  readonly bytes: number;
}

/** A family with the lines of all tasks, ordered by the ids of the tasks: the lines of an appliance stand together and compress well. */
export interface Family {
  readonly header: FamilyHeader;
  readonly blocks: LineBlock[];
}

/** The length after which a block ends, in characters. */
const BLOCK_LENGTH = 64 * 1024;

/**
 * Writes the samples of one task, by family. Of two samples with the same name and labels the later one is written, because
 * Prometheus would reject a scrape with duplicates.
 */
export class LineWriter {
  readonly corrected: Corrections = { cut: 0, duplicates: 0 };
  readonly #task: string;
  readonly #families: ReadonlyMap<string, Family>;
  readonly #maxLength: number;
  readonly #values = new Map<Family, Map<string, number>>();
  #length = 0;

  /** `families`: by the names of their samples. Above `maxLength` characters, `add` throws a RequestError `oversize`. */
  constructor(task: string, families: ReadonlyMap<string, Family>, maxLength: number) {
    this.#task = task;
    this.#families = families;
    this.#maxLength = maxLength;
  }

  add({ name, labels, value }: Sample): void {
    const family = this.#families.get(name);
    if (family === undefined) throw new TypeError(`cannot publish ${name}: the catalogue does not declare it`);
    const series = name + formatLabels(labels, this.corrected);
    this.#length += series.length;
    if (this.#length > this.#maxLength) throw tooLarge(this.#maxLength);
    const values = getOrCreate(this.#values, family, () => new Map<string, number>());
    if (values.has(series)) this.corrected.duplicates += 1;
    values.set(series, value);
  }

  /** Called after all samples were added. */
  *blocks(): Generator<LineBlock> {
    for (const [family, values] of this.#values) {
      for (const lines of groupsOf(values)) {
        // The lines are joined, because a string that is built by adding keeps all of its parts in memory.
        const text = lines.join('');
        yield { task: this.#task, family, text, samples: lines.length, bytes: Buffer.byteLength(text) };
      }
    }
  }
}

/** The lines of the blocks. */
function* groupsOf(values: ReadonlyMap<string, number>): Generator<readonly string[]> {
  let lines: string[] = [];
  let length = 0;
  for (const [series, value] of values) {
    const line = `${series} ${formatValue(value)}\n`;
    lines.push(line);
    length += line.length;
    if (length < BLOCK_LENGTH) continue;
    yield lines;
    lines = [];
    length = 0;
  }
  if (lines.length > 0) yield lines;
}

function tooLarge(maxLength: number): RequestError {
  const lines = `the lines would take more than the remaining ${maxLength} bytes of memory`;
  return new RequestError(
    'oversize',
    `writing the samples: ${lines}; give the process more memory, or export fewer series`,
  );
}
