import { createReadStream, createWriteStream, type Stats } from 'node:fs';
import {
  appendFile,
  lstat,
  mkdir,
  readdir,
  readFile,
  realpath,
  rm,
  rmdir,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { ConfigError, ignoreNotFound } from '../../runtime/errors.ts';
import { isOpenFolder } from '../../runtime/followed-path.ts';
import { InstanceLock } from '../../runtime/instance-lock.ts';

/**
 * The work folder of a backfill. OpenMetrics needs the lines of a family together, but answers arrive by appliance: each
 * family has a file to which every finished task appends a gzip member. The file `progress` has one line for each
 * finished task with the sizes of the files: what a kill leaves after them is removed at the next start.
 */

export interface SpoolQuestion {
  /** Equal for the same request: a run with another one must not use the folder. */
  readonly asked: string;
  /** The period, in milliseconds since the Unix epoch; that of the first run. */
  readonly from: number;
  readonly to: number;
}

export interface Spooled {
  readonly task: string;
  /** Data that the service does not have is not requested again. */
  readonly outcome: 'read' | 'none';
  readonly points: number;
  readonly bins: number;
}

/** A line of `progress`, with the sizes of the changed files. */
interface Progress extends Spooled {
  readonly sizes: readonly (readonly [family: string, bytes: number])[];
}

const PROGRESS = 'progress';
const SUFFIX = '.om.gz';
const LOCK = 'lock';

/** The most that is read of `progress`: 10,000 appliances with thirty series each take 80 MB. */
const MAX_PROGRESS_BYTES = 256 * 1_048_576;

export class Spool {
  readonly question: SpoolQuestion;
  readonly done = new Map<string, Spooled>();
  readonly #folder: string;
  readonly #lock: InstanceLock;
  readonly #sizes = new Map<string, number>();
  #last: Promise<unknown> = Promise.resolve();

  private constructor(folder: string, question: SpoolQuestion, lock: InstanceLock) {
    this.#folder = folder;
    this.question = question;
    this.#lock = lock;
  }

  /**
   * Throws a ConfigError if the folder belongs to something else, or to a run with another request, or if others can change
   * it. `families` are the names that its files may have.
   */
  static async open(given: string, question: SpoolQuestion, families: ReadonlySet<string>): Promise<Spool> {
    await mkdir(given, { recursive: true, mode: 0o700 });
    const folder = await realpath(given);
    // Resolved, because a slash at the end would follow a link.
    if ((await lstat(resolve(given))).isSymbolicLink()) throw inUse(given, 'is a link');
    await expectOwn(folder);
    const names = await readdir(folder);
    const isOurs = (name: string) => name.endsWith(SUFFIX) && families.has(name.slice(0, -SUFFIX.length));
    const strangers = names.filter((name) => name !== PROGRESS && name !== LOCK && !isOurs(name));
    if (strangers.length > 0) throw inUse(folder, 'contains other files');
    for (const name of names) if (name !== LOCK) await expectOwn(folder, name);
    const kept = (await readFile(join(folder, PROGRESS), 'utf8').catch(ignoreNotFound)) ?? '';
    const [first, ...lines] = kept.split('\n').slice(0, -1);
    const begun = first === undefined ? question : parsed<SpoolQuestion>(first);
    if (begun === undefined || !isSize(begun.to)) throw inUse(folder, 'contains something else');
    if (begun.asked !== question.asked) throw inUse(folder, 'belongs to a run with other options');
    const lock = new InstanceLock(join(folder, LOCK), () => inUse(folder, 'is used by another process'));
    await lock.take();
    try {
      const spool = new Spool(folder, begun, lock);
      if (first !== undefined) await spool.#resume(first, lines, families);
      if (spool.done.size > 0) return spool;
      // Nothing was read yet, so the period need not be that of an earlier run.
      await writeFile(join(folder, PROGRESS), `${JSON.stringify(question)}\n`, { mode: 0o600 });
      return new Spool(folder, question, lock);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  get families(): readonly string[] {
    return [...this.#sizes.keys()];
  }

  add(spooled: Spooled, linesByFamily: ReadonlyMap<string, Iterable<string>>): Promise<void> {
    // After a failed one, as on a full disk, every further one fails: it would follow an incomplete piece.
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
    this.#lock.release();
  }

  async remove(): Promise<void> {
    for (const family of this.families) await rm(this.#path(family), { force: true });
    await rm(join(this.#folder, PROGRESS), { force: true });
    this.release();
    // It stays if it contains other files.
    await rmdir(this.#folder).catch(() => {});
  }

  async #append(spooled: Spooled, linesByFamily: ReadonlyMap<string, Iterable<string>>): Promise<void> {
    const sizes = new Map<string, number>();
    for (const [family, lines] of linesByFamily) {
      const path = this.#path(family);
      const out = createWriteStream(path, { flags: 'a', mode: 0o600 });
      await pipeline(Readable.from(lines), createGzip({ level: 1 }), out);
      sizes.set(family, (this.#sizes.get(family) ?? 0) + out.bytesWritten);
    }
    const progress = { ...spooled, sizes: [...sizes] };
    await appendFile(join(this.#folder, PROGRESS), `${JSON.stringify(progress)}\n`);
    this.#keep(progress);
  }

  #keep({ sizes, ...spooled }: Progress): void {
    this.done.set(spooled.task, spooled);
    for (const [family, size] of sizes) this.#sizes.set(family, size);
  }

  async #resume(first: string, lines: readonly string[], families: ReadonlySet<string>): Promise<void> {
    let good = Buffer.byteLength(first) + 1;
    for (const [index, line] of lines.entries()) {
      const progress = parsed<Progress>(line);
      const fits = progress?.sizes?.every(([name, bytes]) => families.has(name) && isSize(bytes));
      if (progress === undefined || !fits) {
        throw inUse(this.#folder, `is corrupted: line ${index + 2} of ${PROGRESS}`);
      }
      this.#keep(progress);
      good += Buffer.byteLength(line) + 1;
    }
    // A line cut by a kill must not run into the next one.
    await truncate(join(this.#folder, PROGRESS), good);
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
  }

  #path(family: string): string {
    return join(this.#folder, `${family}${SUFFIX}`);
  }
}

/** Throws a ConfigError if others can change the folder, or put another one in its place, or can change a file in it. */
async function expectOwn(folder: string, name?: string): Promise<void> {
  const flaw = await (name === undefined ? flawOfFolder(folder) : flawOfFile(join(folder, name)));
  if (flaw !== undefined) throw inUse(folder, name === undefined ? flaw : `has a file that ${flaw}: ${name}`);
}

async function flawOfFolder(folder: string): Promise<string | undefined> {
  for (let above = dirname(folder); ; above = dirname(above)) {
    if (isOpenFolder(await lstat(above))) return `is in a folder that other users can change: ${above}`;
    if (above === dirname(above)) return flawOf(await lstat(folder));
  }
}

async function flawOfFile(path: string): Promise<string | undefined> {
  const stats = await lstat(path);
  if (stats.isSymbolicLink() || (stats.isFile() && stats.nlink > 1)) return 'is a link';
  if (!stats.isFile()) return 'is not a regular file';
  if (basename(path) === PROGRESS && stats.size > MAX_PROGRESS_BYTES) return 'is too large';
  return flawOf(stats);
}

function flawOf(stats: Stats): string | undefined {
  if (stats.uid !== (process.geteuid?.() ?? stats.uid)) return 'belongs to another user';
  return (stats.mode & 0o022) === 0 ? undefined : 'can be written by other users';
}

function inUse(folder: string, reason: string): ConfigError {
  return new ConfigError([
    `${folder}: the work folder ${reason}; repeat the options of the first run, or choose another folder with --work`,
  ]);
}

function isSize(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** Undefined for a line that is not whole. */
function parsed<Value>(line: string): Value | undefined {
  try {
    return JSON.parse(line) ?? undefined;
  } catch {
    return undefined;
  }
}
