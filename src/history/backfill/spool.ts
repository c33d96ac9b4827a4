import { createReadStream, createWriteStream, type Stats } from 'node:fs';
import { lstat, mkdir, readdir, realpath, rm, rmdir, truncate } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import process from 'node:process';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type { Clock } from '../../runtime/clock.ts';
import { ConfigError, ignoreNotFound } from '../../runtime/errors.ts';
import { followPath } from '../../runtime/followed-path.ts';
import { runInSlices } from '../../runtime/slices.ts';
import { FileStore, StateFileError } from '../../state/file-store.ts';
import { type Heading, Journal, readJournal, readLines } from '../../state/journal.ts';

/**
 * The work folder of a backfill. OpenMetrics needs the lines of a family together, but responses arrive by appliance.
 * So each family has a file, to which every finished task appends a gzip member. The file `progress` is a journal with
 * an entry for each finished task and the sizes of the files. If the process is killed, the next start removes what
 * follows those sizes.
 */

export interface BackfillRequest {
  /** Identifies the request: a run with another fingerprint must not use the folder. */
  readonly fingerprint: string;
  /** The period of the first run, in milliseconds since the Unix epoch. */
  readonly from: number;
  readonly to: number;
}

export interface SpoolEntry {
  readonly task: string;
  /** `none`: the service has no data, which is not requested again. */
  readonly outcome: 'read' | 'none';
  readonly points: number;
  readonly bins: number;
}

/** An entry of `progress`: a finished task, if any, and the sizes of the files that have changed. */
interface Progress {
  readonly done?: SpoolEntry;
  readonly sizes: readonly (readonly [family: string, bytes: number])[];
}

const PROGRAM = 'filer-exporter backfill';
const PROGRESS = 'progress';
const OWN_FILES: readonly string[] = [PROGRESS, `${PROGRESS}.lock`, `${PROGRESS}.next`];
const SUFFIX = '.om.gz';

/** The largest file that is read: 10,000 appliances with thirty series each take 40 MB. */
const MAX_PROGRESS_BYTES = 256 * 1_048_576;

export class Spool {
  readonly request: BackfillRequest;
  readonly done = new Map<string, SpoolEntry>();
  readonly #folder: string;
  readonly #store: FileStore;
  readonly #journal: Journal;
  readonly #sizes = new Map<string, number>();
  #last: Promise<unknown> = Promise.resolve();

  private constructor(folder: string, request: BackfillRequest, store: FileStore, clock: Clock) {
    this.#folder = folder;
    this.request = request;
    this.#store = store;
    this.#journal = new Journal(store, clock, Number.POSITIVE_INFINITY);
  }

  /**
   * Throws a ConfigError if the folder belongs to another program or request, or if other users can change it.
   * `families` are the names that its files may have.
   */
  static async open(
    given: string,
    request: BackfillRequest,
    families: ReadonlySet<string>,
    clock: Clock,
  ): Promise<Spool> {
    await mkdir(given, { recursive: true, mode: 0o700 });
    const folder = await realpath(given);
    // The path is resolved first, because a slash at its end would follow a link.
    if ((await lstat(resolve(given))).isSymbolicLink()) throw inUse(given, 'is a link');
    const { openFolder } = await followPath(folder);
    if (openFolder !== undefined) throw inUse(folder, `is in a folder that other users can change: ${openFolder}`);
    const loose = permissionErrorOf(await lstat(folder));
    if (loose !== undefined) throw inUse(folder, loose);
    const names = await readdir(folder);
    const isOurs = (name: string) => name.endsWith(SUFFIX) && families.has(name.slice(0, -SUFFIX.length));
    if (names.some((name) => !OWN_FILES.includes(name) && !isOurs(name))) throw inUse(folder, 'contains other files');
    for (const name of names) {
      const error = name.endsWith('.lock') ? undefined : await permissionErrorOfFile(join(folder, name));
      if (error !== undefined) throw inUse(folder, `has a file that ${error}: ${name}`);
    }
    const store = new FileStore(join(folder, PROGRESS), MAX_PROGRESS_BYTES);
    await store.lock().catch(() => Promise.reject(inUse(folder, 'is used by another process')));
    try {
      const spool = await Spool.#resumed(folder, request, store, families, clock);
      await spool.#begin();
      return spool;
    } catch (error) {
      store.release();
      if (error instanceof StateFileError)
        throw inUse(folder, `contains something else: ${PROGRESS} is ${error.message}`);
      throw error;
    }
  }

  /** Returns the spool of an interrupted run of the same request; if that run read nothing, returns a new spool. */
  static async #resumed(
    folder: string,
    request: BackfillRequest,
    store: FileStore,
    families: ReadonlySet<string>,
    clock: Clock,
  ): Promise<Spool> {
    const content = await store.read();
    const fresh = new Spool(folder, request, store, clock);
    if (content === undefined) return fresh;
    let begun = request;
    const expect = ({ program, fingerprint, from, to }: Heading) => {
      if (program !== PROGRAM || !isSize(from) || !isSize(to)) throw inUse(folder, 'contains something else');
      if (fingerprint !== request.fingerprint) throw inUse(folder, 'belongs to a run with other options');
      begun = { fingerprint: request.fingerprint, from, to };
    };
    const journal = await runInSlices(readJournal(content, expect), clock);
    const spool = new Spool(folder, begun, store, clock);
    const put = (entry: unknown) => {
      if (!isProgress(entry, families)) throw inUse(folder, `is corrupted: an entry of ${PROGRESS} makes no sense`);
      spool.#keep(entry);
    };
    await runInSlices(readLines(journal, MAX_PROGRESS_BYTES, put), clock);
    return spool.done.size > 0 ? spool : fresh;
  }

  get families(): readonly string[] {
    return [...this.#sizes.keys()];
  }

  add(spooled: SpoolEntry, linesByFamily: ReadonlyMap<string, Iterable<string>>): Promise<void> {
    // Entries are appended one at a time. If one fails, for example on a full disk, all later ones fail too, because
    // their members would follow an incomplete one.
    const added = this.#last.then(() => this.#append(spooled, linesByFamily));
    this.#last = added;
    return added;
  }

  read(family: string): AsyncIterable<Buffer> {
    const file = createReadStream(this.#path(family));
    const lines = createGunzip();
    file.on('error', (error) => lines.destroy(error));
    return file.pipe(lines);
  }

  release(): void {
    this.#journal.release();
    this.#store.release();
  }

  async remove(): Promise<void> {
    for (const family of this.families) await rm(this.#path(family), { force: true });
    await rm(join(this.#folder, PROGRESS), { force: true });
    this.release();
    // The folder stays if it contains other files.
    await rmdir(this.#folder).catch(() => {});
  }

  async #append(done: SpoolEntry, linesByFamily: ReadonlyMap<string, Iterable<string>>): Promise<void> {
    const sizes = new Map<string, number>();
    for (const [family, lines] of linesByFamily) {
      const path = this.#path(family);
      const out = createWriteStream(path, { flags: 'a', mode: 0o600 });
      await pipeline(Readable.from(lines), createGzip({ level: 1 }), out);
      sizes.set(family, (this.#sizes.get(family) ?? 0) + out.bytesWritten);
    }
    const progress: Progress = { done, sizes: [...sizes] };
    await this.#journal.append({ lines: [], last: progress }, false);
    this.#keep(progress);
  }

  #keep({ done, sizes }: Progress): void {
    if (done !== undefined) this.done.set(done.task, done);
    for (const [family, size] of sizes) this.#sizes.set(family, size);
  }

  /** Truncates the files to the recorded sizes, and begins the journal of this process. */
  async #begin(): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      const isUnknown = name.endsWith(SUFFIX) && !this.#sizes.has(name.slice(0, -SUFFIX.length));
      if (isUnknown) await rm(join(this.#folder, name));
    }
    for (const [family, size] of this.#sizes) {
      const found = await lstat(this.#path(family)).catch(ignoreNotFound);
      if (found === undefined || found.size < size) {
        throw inUse(this.#folder, `is corrupted: ${family}${SUFFIX} is shorter than before`);
      }
      await truncate(this.#path(family), size);
    }
    const lines = Array.from(this.done.values(), (done): Progress => ({ done, sizes: [] }));
    const last: Progress = { sizes: [...this.#sizes] };
    await this.#journal.rewrite({ program: PROGRAM, ...this.request }, { lines, last });
  }

  #path(family: string): string {
    return join(this.#folder, `${family}${SUFFIX}`);
  }
}

/** Returns how other users could change a file, or what leads to another file. */
async function permissionErrorOfFile(path: string): Promise<string | undefined> {
  const stats = await lstat(path);
  if (stats.isSymbolicLink() || (stats.isFile() && stats.nlink > 1)) return 'is a link';
  if (!stats.isFile()) return 'is not a regular file';
  if (basename(path) === PROGRESS && stats.size > MAX_PROGRESS_BYTES) return 'is too large';
  return permissionErrorOf(stats);
}

function permissionErrorOf(stats: Stats): string | undefined {
  if (stats.uid !== (process.geteuid?.() ?? stats.uid)) return 'belongs to another user';
  return (stats.mode & 0o022) === 0 ? undefined : 'can be written by other users';
}

function inUse(folder: string, reason: string): ConfigError {
  return new ConfigError([
    `${folder}: the work folder ${reason}; repeat the options of the first run, or choose another folder with --work-dir`,
  ]);
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isProgress(entry: unknown, families: ReadonlySet<string>): entry is Progress {
  const { done, sizes } = (entry ?? {}) as Partial<Progress>;
  const isTask = done === undefined || (typeof done?.task === 'string' && isSize(done.points) && isSize(done.bins));
  return isTask && Array.isArray(sizes) && sizes.every(([name, bytes]) => families.has(name) && isSize(bytes));
}
