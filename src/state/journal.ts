import { crc32 } from 'node:zlib';
import type { Clock } from '../runtime/clock.ts';
import { iterateInSlices, SLICE_MS } from '../runtime/slices.ts';
import { estimateMemory } from '../transport/json/memory-estimate.ts';
import { parseInSlices } from '../transport/json/parse.ts';
import { StateFileError, type StateStore, type StoredFile } from './file-store.ts';

/**
 * A journal begins with a heading and continues with groups of lines; a group is the change of one poll. Each line consists
 * of a sign, the checksum of all lines up to its end, and JSON:
 *
 *     {"program":"filer-exporter state","version":3,…}
 *     +6f0c11d2 {"gfa":{"events":["b7Qm0kq2xV1p"]}}
 *     =a90b77e1 {"at":1772445300000,"up":61000}
 *
 * After `+` the group continues; `=` ends a group that was synced to the disk, and `-` a group that was not. A file that
 * was cut anywhere therefore has all groups up to the last whole one.
 */
const [MORE, SYNCED, UNSYNCED] = ['+', '=', '-'];
const SIGNS = '+=-';

/** The prefix of a line: a sign, eight hexadecimal digits and a blank. */
const PREFIX_BYTES = 10;
const LINE_END = 10;

/** The heading and the last line of a group are far shorter. Longer ones could take more memory than there is. */
const MAX_SMALL_LINE_BYTES = 65_536;

/** How many bytes a write collects, roughly. */
const CHUNK_BYTES = 65_536;

export type Heading = Readonly<Record<string, unknown>>;

export interface JournalContent {
  /** Returns the JSON of each line of every whole group. */
  lines(): Iterable<Buffer>;
  /** The last line of the last whole group; undefined if it cannot be read. */
  readonly last: unknown;
}

/**
 * Checks a journal line by line. A torn end is ignored. A bad line before a synced line throws a StateFileError, because no
 * failure of power or process causes that. `expect` is called with the heading first, and throws if the journal belongs to
 * another program or version.
 */
export function* readJournal(content: Buffer, expect: (heading: Heading) => void): Generator<void, JournalContent> {
  const begin = content.indexOf(LINE_END) + 1;
  const heading = begin === 0 ? undefined : parsed(content.subarray(0, begin));
  if (typeof heading !== 'object' || heading === null) throw new StateFileError('not a state file, or corrupted');
  expect(heading as Heading);
  let sum = crc32(content.subarray(0, begin));
  let [end, last] = [begin, undefined as Buffer | undefined];
  for (let from = begin; from < content.length; ) {
    const to = content.indexOf(LINE_END, from);
    const json = content.subarray(from + PREFIX_BYTES, Math.max(to, from + PREFIX_BYTES));
    sum = crc32(json, sum);
    const sign = String.fromCharCode(content[from] ?? 0);
    const isWhole = to > from + PREFIX_BYTES && SIGNS.includes(sign);
    if (!isWhole || content.toString('latin1', from, from + PREFIX_BYTES) !== prefix(sign, sum)) {
      if (isBeforeSynced(content, from)) throw new StateFileError('corrupted: a bad line before a synced one');
      break;
    }
    from = to + 1;
    if (sign !== MORE) [end, last] = [from, json];
    yield;
  }
  const lines = () => linesIn(content.subarray(begin, end));
  return { lines, last: last && parsed(last) };
}

/** The end of a group is synced before the next group is written, so a synced line with bytes after it is on the disk. */
function isBeforeSynced(content: Buffer, from: number): boolean {
  const synced = content.indexOf(`\n${SYNCED}`, from - 1);
  const end = synced === -1 ? -1 : content.indexOf(LINE_END, synced + 1);
  return end !== -1 && end < content.length - 1;
}

function* linesIn(lines: Buffer): Generator<Buffer> {
  for (let from = 0; from < lines.length; ) {
    const to = lines.indexOf(LINE_END, from);
    yield lines.subarray(from + PREFIX_BYTES, to);
    from = to + 1;
  }
}

/** Parses each line on its own, and only if it fits into `maxBytes` of memory. */
export function* readLines(journal: JournalContent, maxBytes: number, put: (line: unknown) => void): Generator<void> {
  for (const json of journal.lines()) {
    if ((yield* estimateMemory([json], maxBytes)) !== 'fits')
      throw new StateFileError('corrupted: a line takes too much memory');
    put(yield* parseInSlices(json));
    yield;
  }
}

function prefix(sign: string, sum: number): string {
  return `${sign}${sum.toString(16).padStart(8, '0')} `;
}

/** Returns undefined for a line that is not JSON, or longer than the first or the last one of a group can be. */
function parsed(line: Buffer): unknown {
  if (line.length > MAX_SMALL_LINE_BYTES) return undefined;
  try {
    return JSON.parse(line.toString());
  } catch {
    return undefined;
  }
}

/** The lines of a group; `last` is the line that ends it. */
export interface JournalGroup {
  readonly lines: Iterable<unknown>;
  readonly last: unknown;
}

type Line = readonly [sign: string, json: Buffer];

/** The file that this process has created. Each process creates its own file, so it appends only to what it has written. */
class WrittenFile {
  readonly file: StoredFile;
  bytes = 0;
  /** The journal is rewritten when it is longer than this, in bytes. */
  rewriteAbove = 0;
  #sum = 0;
  #chunk: Buffer[] = [];
  #chunkBytes = 0;
  readonly #maxBytes: number;

  constructor(file: StoredFile, heading: unknown, maxBytes: number) {
    this.file = file;
    this.#maxBytes = maxBytes;
    const line = Buffer.from(`${JSON.stringify(heading)}\n`);
    this.#sum = crc32(line);
    this.#collect(line);
  }

  get isChunkFull(): boolean {
    return this.#chunkBytes >= CHUNK_BYTES;
  }

  add([sign, json]: Line): void {
    this.#sum = crc32(json, this.#sum);
    this.#collect(Buffer.from(prefix(sign, this.#sum)), json, Buffer.from('\n'));
  }

  async flush(): Promise<void> {
    const chunk = Buffer.concat(this.#chunk);
    this.#chunk = [];
    this.#chunkBytes = 0;
    if (this.bytes + chunk.length > this.#maxBytes) {
      throw new StateFileError(
        `the state file would be larger than ${this.#maxBytes} bytes and could not be read again`,
      );
    }
    await this.file.append(chunk);
    this.bytes += chunk.length;
  }

  #collect(...pieces: readonly Buffer[]): void {
    this.#chunk.push(...pieces);
    for (const { length } of pieces) this.#chunkBytes += length;
  }
}

/**
 * A file to which changes are appended, and which is rewritten with the present state when it becomes long. After a failure
 * it is closed, because it is unknown what has reached the disk; then the file has to be rewritten.
 */
export class Journal {
  readonly #store: StateStore;
  readonly #clock: Clock;
  readonly #slackBytes: number;
  #own: WrittenFile | undefined;
  /** The lines that were appended while the journal is rewritten. */
  #appendedLines: Line[] | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  /** Whether another process writes the file: then this process must not write it. */
  #isForeign = false;
  #isReleased = false;

  /** The journal is long when it is longer than twice its content after the last rewriting, plus `slackBytes`. */
  constructor(store: StateStore, clock: Clock, slackBytes = 0) {
    this.#store = store;
    this.#clock = clock;
    this.#slackBytes = slackBytes;
  }

  /** Whether changes can be appended. If not, the journal has to be rewritten first. */
  get isOpen(): boolean {
    return this.#own !== undefined;
  }

  get isLong(): boolean {
    return this.#own !== undefined && this.#own.bytes > this.#own.rewriteAbove;
  }

  close(): void {
    const own = this.#own;
    this.#own = undefined;
    void own?.file.close().catch(() => {});
  }

  /** Closes it for good: a rewriting in progress does not take the place of the file. */
  release(): void {
    this.#isReleased = true;
    this.close();
  }

  /** Resolves when the group is in the file, and on the disk if `isSynced`. */
  append(group: JournalGroup, isSynced = true): Promise<void> {
    return this.#runAlone(async () => {
      const own = this.#own;
      if (own === undefined) throw new Error('the journal has to be rewritten first');
      try {
        await this.#expectOwn(own.bytes);
        await this.#write(own, group, isSynced ? SYNCED : UNSYNCED, this.#appendedLines);
        if (isSynced) await own.file.sync();
      } catch (error) {
        this.close();
        throw error;
      }
    });
  }

  /** Replaces the file by a new one; lines that are appended meanwhile are in both. A whole file is in place at any time. */
  async rewrite(heading: unknown, group: JournalGroup, signal?: AbortSignal): Promise<void> {
    if (this.#isForeign) throw foreign();
    const tail: Line[] = [];
    this.#appendedLines = tail;
    let next: WrittenFile | undefined;
    try {
      const own = new WrittenFile(await this.#store.create(), heading, this.#store.maxBytes);
      next = own;
      await this.#write(own, group, SYNCED, undefined, signal);
      await own.file.sync();
      await this.#runAlone(async () => {
        signal?.throwIfAborted();
        if (tail.length > 0) {
          for (const line of tail) own.add(line);
          await own.flush();
          await own.file.sync();
        }
        if (this.#isReleased) throw new Error('the file was released');
        await own.file.install();
        this.close();
        own.rewriteAbove = 2 * own.bytes + this.#slackBytes;
        this.#own = own;
      });
    } catch (error) {
      await next?.file.close();
      // If the journal cannot be rewritten, it is rewritten the next time at twice its length.
      if (this.#own !== undefined) this.#own.rewriteAbove = 2 * this.#own.bytes;
      throw error;
    } finally {
      this.#appendedLines = undefined;
    }
  }

  async #write(
    own: WrittenFile,
    group: JournalGroup,
    sign: string,
    tail?: Line[],
    signal?: AbortSignal,
  ): Promise<void> {
    const add = (line: Line) => {
      own.add(line);
      tail?.push(line);
    };
    let startedAt = this.#clock.monotonic();
    for await (const value of iterateInSlices(group.lines, this.#clock)) {
      add([MORE, Buffer.from(JSON.stringify(value))]);
      if (!own.isChunkFull && this.#clock.monotonic() - startedAt < SLICE_MS) continue;
      await own.flush();
      signal?.throwIfAborted();
      startedAt = this.#clock.monotonic();
    }
    add([sign, Buffer.from(JSON.stringify(group.last))]);
    await own.flush();
  }

  /** Where files cannot be locked, two processes can use the same file, which its size shows. */
  async #expectOwn(bytes: number): Promise<void> {
    const size = await this.#store.size();
    if (size === undefined) throw new Error('the state file was removed while the exporter was running');
    this.#isForeign = size !== bytes;
    if (this.#isForeign) throw foreign();
  }

  /** Runs one piece of work at a time. */
  #runAlone(work: () => Promise<void>): Promise<void> {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => {});
    return done;
  }
}

function foreign(): StateFileError {
  return new StateFileError('another process has written the state file; expected a STATE_FILE for each instance');
}
