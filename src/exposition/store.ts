import type { Sample } from '../metrics/samples.ts';
import { nextTurn } from '../runtime/clock.ts';
import { type Corrections, type FamilyHeader, type Format, headerLines, type ResponseBody } from './format.ts';
import { type Family, type LineBlock, LineWriter } from './line-writer.ts';

const COUNTING_TYPES: ReadonlySet<string> = new Set(['counter', 'histogram']);

/** The response of a large account has 100,000 samples and more; so many, and so many blocks of lines, take some 5 ms. */
const SAMPLES_PER_TURN = 1_000;
const BLOCKS_PER_TURN = 8;

/** Lines are joined to buffers of about this length, each in a millisecond or two. */
const BUFFER_LENGTH = 512 * 1024;

/**
 * The lines of every task, by family: they are written when a response arrives, replace its previous lines in one step,
 * and are sent unchanged to every scrape (the model is the `metrics_store` of kube-state-metrics).
 */
export class LineStore {
  readonly #maxBytes: number;
  readonly #families: readonly Family[];
  readonly #familyOfSample = new Map<string, Family>();
  readonly #tasks = new Map<string, readonly LineBlock[]>();
  #samples = 0;
  #bytes = 0;

  /**
   * `families` are all families that tasks may publish, in the order of the exposition. `maxBytes` limits all lines
   * together, including those that are about to be replaced.
   */
  constructor(families: readonly FamilyHeader[], maxBytes = Number.POSITIVE_INFINITY) {
    this.#maxBytes = maxBytes;
    this.#families = families.map((header) => ({ header, blocks: [] }));
    for (const family of this.#families) {
      const { name, type } = family.header;
      for (const suffix of type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) {
        this.#familyOfSample.set(name + suffix, family);
      }
    }
  }

  get samples(): number {
    return this.#samples;
  }

  /**
   * Replaces the task's samples: writes the new lines, then exposes all of them at once. Resolves with the corrections. If
   * there is no memory for the lines, it rejects with a RequestError `oversize`, and the previous samples stay.
   */
  async accept(task: string, samples: Iterable<Sample>): Promise<Corrections> {
    const writer = new LineWriter(task, this.#familyOfSample, Math.max(0, this.#maxBytes - this.#bytes));
    let written = 0;
    for (const sample of samples) {
      writer.add(sample);
      written += 1;
      if (written % SAMPLES_PER_TURN === 0) await nextTurn();
    }
    const blocks: LineBlock[] = [];
    for (const block of writer.blocks()) {
      blocks.push(block);
      if (blocks.length % BLOCKS_PER_TURN === 0) await nextTurn();
    }
    // The copy has no spare capacity, which would be most of the memory of a small list.
    this.#replace(task, blocks.slice());
    return writer.corrected;
  }

  /** Replaces the task's samples at once, for a task with few samples. */
  publish(task: string, samples: Iterable<Sample>): Corrections {
    const writer = new LineWriter(task, this.#familyOfSample, Number.POSITIVE_INFINITY);
    for (const sample of samples) writer.add(sample);
    this.#replace(task, [...writer.blocks()]);
    return writer.corrected;
  }

  /** Removes a task's lines; with `keepsCounts` all but those of counters and histograms. */
  withdraw(task: string, keepsCounts = false): void {
    const before = this.#tasks.get(task) ?? [];
    this.#replace(
      task,
      before.filter(({ family }) => keepsCounts && COUNTING_TYPES.has(family.header.type)),
    );
  }

  /** Returns all present lines with their headers, without empty families. Later changes do not change it. */
  snapshot(format: Format): ResponseBody {
    let length = this.#bytes;
    const texts: string[] = [];
    for (const { header, blocks } of this.#families) {
      if (blocks.length === 0) continue;
      const lines = headerLines(header, format);
      length += Buffer.byteLength(lines);
      texts.push(lines);
      for (const { text } of blocks) texts.push(text);
    }
    return { length, buffers: () => joined(texts) };
  }

  #replace(task: string, blocks: readonly LineBlock[]): void {
    const before = this.#tasks.get(task) ?? [];
    for (const replaced of new Set([...before, ...blocks].map(({ family }) => family))) {
      const first = firstOf(replaced.blocks, task);
      const count = before.filter(({ family }) => family === replaced).length;
      replaced.blocks.splice(first, count, ...blocks.filter(({ family }) => family === replaced));
    }
    for (const { samples, bytes } of before) {
      this.#samples -= samples;
      this.#bytes -= bytes;
    }
    for (const { samples, bytes } of blocks) {
      this.#samples += samples;
      this.#bytes += bytes;
    }
    if (blocks.length > 0) this.#tasks.set(task, blocks);
    else this.#tasks.delete(task);
  }
}

/** The index of the first block of a task, or where it would be. */
function firstOf(blocks: readonly LineBlock[], task: string): number {
  let [low, high] = [0, blocks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const block = blocks[middle];
    if (block !== undefined && block.task < task) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Buffers are created when they are read: all of them would be as large as the exposition. */
function* joined(texts: readonly string[]): Generator<Buffer> {
  let group: string[] = [];
  let length = 0;
  for (const text of texts) {
    group.push(text);
    length += text.length;
    if (length < BUFFER_LENGTH) continue;
    yield Buffer.from(group.join(''));
    group = [];
    length = 0;
  }
  if (length > 0) yield Buffer.from(group.join(''));
}
