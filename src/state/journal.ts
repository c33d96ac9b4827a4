import { crc32 } from 'node:zlib';
import type { Clock } from '../runtime/clock.ts';
import { iterateInSlices } from '../runtime/slices.ts';
import { estimateMemory } from '../transport/json/memory-estimate.ts';
import { parseInSlices } from '../transport/json/parse.ts';
import { StateFileError, type StateStore, type StoredFile } from './file-store.ts';

/**
 * A journal begins with a heading and continues with groups of lines; a group is the change that one event made. Each line
 * has a sign, the checksum of all lines up to its end, and JSON:
 *
 *     {"program":"filer-exporter state","version":3,…}
 *     +6f0c11d2 {"gfa":{"events":["b7Qm0kq2xV1p"]}}
 *     =a90b77e1 {"at":1772445300000,"up":61000}
 *
 * `+` is followed by further lines of the group; `=` ends a group that was synced to the disk, `-` one that was not. So a
 * file that was cut anywhere has all groups up to the last whole one.
 */
const [MORE, SYNCED, UNSYNCED] = ['+', '=', '-'];
const SIGNS = '+=-';

/** A sign, eight hexadecimal digits and a blank. */
const PREFIX_BYTES = 10;
const LINE_END = 10;

/** A write collects about so many bytes. */
const CHUNK_BYTES = 65_536;

/** How long a slice of the rewriting may hold the event loop: what it has collected is written after it. */
const SLICE_MS = 5;

export type Heading = Readonly<Record<string, unknown>>;

export interface JournalContent {
  readonly heading: Heading;
  /** The JSON of each line of every whole group. */
  lines(): Iterable<Buffer>;
  /** The JSON of the last of these lines. */
  readonly last: Buffer | undefined;
}

/**
 * Checks a journal line by line. A torn end is ignored; the method throws a StateFileError if a bad line comes before a
 * synced one, because no failure of power or process does that. `expect` sees the heading first, and throws if the journal
 * is another program's or version's.
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
  return { heading: heading as Heading, lines: () => linesIn(content.subarray(begin, end)), last };
}

/** The end of a group is synced before the next group is written, so one that is followed by something is on the disk. */
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

function parsed(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString());
  } catch {
    return undefined;
  }
}

/** The last of its lines ends the group. */
export interface JournalGroup {
  readonly lines: Iterable<unknown>;
  readonly last: unknown;
}

type Line = readonly [sign: string, json: Buffer];

/** The file that this process has begun: each process begins one of its own, so it continues only what it has written. */
class OwnFile {
  readonly file: StoredFile;
  bytes = 0;
  /** The length above which it is to be rewritten, in bytes. */
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
      throw new StateFileError(`it would be larger than ${this.#maxBytes} bytes, and could not be read again`);
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
 * A file to which changes are appended, and which is rewritten now and then with what it amounts to. After a failure it
 * is closed, because what has reached the disk is unknown: the next success is a rewriting.
 */
export class Journal {
  readonly #store: StateStore;
  readonly #clock: Clock;
  readonly #slackBytes: number;
  #own: OwnFile | undefined;
  /** What was appended while the journal is rewritten. */
  #tail: Line[] | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  /** Another process writes the file: this one has to leave it alone. */
  #isForeign = false;
  #isReleased = false;

  /** `slackBytes`: the journal is long when it is longer than twice its living content and this. */
  constructor(store: StateStore, clock: Clock, slackBytes = 0) {
    this.#store = store;
    this.#clock = clock;
    this.#slackBytes = slackBytes;
  }

  /** Whether changes can be appended: otherwise the journal has to be rewritten. */
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
    return this.#alone(async () => {
      const own = this.#own;
      if (own === undefined) throw new Error('the journal has to be rewritten first');
      try {
        await this.#expectOwn(own.bytes);
        await this.#write(own, group, isSynced ? SYNCED : UNSYNCED, this.#tail);
        if (isSynced) await own.file.sync();
      } catch (error) {
        this.close();
        throw error;
      }
    });
  }

  /** Replaces the file by a new one; what is appended meanwhile is in both. Whenever it ends, one of them is in place. */
  async rewrite(heading: unknown, group: JournalGroup, signal?: AbortSignal): Promise<void> {
    if (this.#isForeign) throw foreign();
    const tail: Line[] = [];
    this.#tail = tail;
    let next: OwnFile | undefined;
    try {
      const own = new OwnFile(await this.#store.create(), heading, this.#store.maxBytes);
      next = own;
      await this.#write(own, group, SYNCED, undefined, signal);
      await own.file.sync();
      await this.#alone(async () => {
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
      // A journal that grows while it cannot be rewritten is tried again at twice the length.
      if (this.#own !== undefined) this.#own.rewriteAbove = 2 * this.#own.bytes;
      throw error;
    } finally {
      this.#tail = undefined;
    }
  }

  async #write(own: OwnFile, group: JournalGroup, sign: string, tail?: Line[], signal?: AbortSignal): Promise<void> {
    const add = (line: Line) => {
      own.add(line);
      tail?.push(line);
    };
    let started = this.#clock.monotonic();
    for await (const value of iterateInSlices(group.lines, this.#clock, SLICE_MS)) {
      add([MORE, Buffer.from(JSON.stringify(value))]);
      if (!own.isChunkFull && this.#clock.monotonic() - started < SLICE_MS) continue;
      await own.flush();
      signal?.throwIfAborted();
      started = this.#clock.monotonic();
    }
    add([sign, Buffer.from(JSON.stringify(group.last))]);
    await own.flush();
  }

  /** Where files cannot be locked, two processes can have the same one. */
  async #expectOwn(bytes: number): Promise<void> {
    const size = await this.#store.size();
    if (size === undefined) throw new Error('the file was removed');
    this.#isForeign = size !== bytes;
    if (this.#isForeign) throw foreign();
  }

  /** Runs one piece of work at a time. */
  #alone(work: () => Promise<void>): Promise<void> {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => {});
    return done;
  }
}

function foreign(): StateFileError {
  return new StateFileError('another process has written the file; expected a file for each');
}
