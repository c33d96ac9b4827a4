import { createReadStream, createWriteStream } from 'node:fs';
import { appendFile, lstat, mkdir, readdir, readFile, rm, rmdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { ConfigError, codeOf, unlessMissing } from '../runtime/errors.ts';

/**
 * The work folder of a backfill. OpenMetrics needs the lines of a family together, but answers arrive by appliance, so
 * each family has a file to which every finished task appends, and the files are joined at the end. The file `progress`
 * has one line for each finished task, with the sizes of the files at that time: anything after them, left by a kill,
 * is removed at the next start. Each append is one gzip member, because the lines are long and similar.
 */

/** The request of the run: a run with another request must not use the folder. */
export interface SpoolQuestion {
  /** The request as a text, equal for the same request. */
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
  readonly sizes: Readonly<Record<string, number>>;
}

const PROGRESS = 'progress';
const SUFFIX = '.om.gz';
/** Holds the id of the process that writes to the folder. */
const OWNER = 'pid';

export class Spool {
  readonly question: SpoolQuestion;
  readonly done = new Map<string, Spooled>();
  readonly #folder: string;
  readonly #sizes = new Map<string, number>();
  /** Appends run one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(folder: string, question: SpoolQuestion) {
    this.#folder = folder;
    this.question = question;
  }

  /**
   * Throws a ConfigError if the folder belongs to something else, or to a run with another request, or if others can change
   * it. `families` are the names that its files may have.
   */
  static async open(folder: string, question: SpoolQuestion, families: ReadonlySet<string>): Promise<Spool> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await expectOwn(folder);
    const names = await readdir(folder);
    const isOurs = (name: string) => name.endsWith(SUFFIX) && families.has(name.slice(0, -SUFFIX.length));
    const strangers = names.filter((name) => name !== PROGRESS && name !== OWNER && !isOurs(name));
    if (strangers.length > 0) throw inUse(folder, 'contains other files');
    for (const name of names) await expectOwn(folder, name);
    const path = join(folder, PROGRESS);
    const kept = (await readFile(path, 'utf8').catch(unlessMissing)) ?? '';
    const [first, ...lines] = kept.split('\n').slice(0, -1);
    const begun = first === undefined ? question : parsed<SpoolQuestion>(first);
    if (begun?.asked === undefined) throw inUse(folder, 'contains something else');
    if (begun.asked !== question.asked) throw inUse(folder, 'belongs to a run with other options');
    await claim(folder);
    const spool = new Spool(folder, begun);
    if (first !== undefined) await spool.#resume(first, lines, families);
    if (spool.done.size > 0) return spool;
    // Nothing was read yet, so the period need not be that of an earlier run.
    await writeFile(path, `${JSON.stringify(question)}\n`, { mode: 0o600 });
    return new Spool(folder, question);
  }

  get families(): readonly string[] {
    return [...this.#sizes.keys()];
  }

  /** Appends a task's lines, by family, and marks it as finished. */
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

  async remove(): Promise<void> {
    for (const family of this.families) await rm(this.#path(family), { force: true });
    for (const name of [PROGRESS, OWNER]) await rm(join(this.#folder, name), { force: true });
    // It stays if it contains other files.
    await rmdir(this.#folder).catch(() => {});
  }

  async #append(spooled: Spooled, linesByFamily: ReadonlyMap<string, Iterable<string>>): Promise<void> {
    const sizes: Record<string, number> = {};
    for (const [family, lines] of linesByFamily) {
      const path = this.#path(family);
      const out = createWriteStream(path, { flags: 'a', mode: 0o600 });
      await pipeline(Readable.from(lines), createGzip({ level: 1 }), out);
      sizes[family] = (this.#sizes.get(family) ?? 0) + out.bytesWritten;
    }
    await appendFile(join(this.#folder, PROGRESS), `${JSON.stringify({ ...spooled, sizes })}\n`);
    this.#note({ ...spooled, sizes });
  }

  #note({ sizes, ...spooled }: Progress): void {
    this.done.set(spooled.task, spooled);
    for (const [family, size] of Object.entries(sizes)) this.#sizes.set(family, size);
  }

  async #resume(first: string, lines: readonly string[], families: ReadonlySet<string>): Promise<void> {
    let good = Buffer.byteLength(first) + 1;
    for (const line of lines) {
      const progress = parsed<Progress>(line);
      if (progress === undefined) break;
      if (Object.keys(progress.sizes).some((name) => !families.has(name))) throw inUse(this.#folder, 'is corrupted');
      this.#note(progress);
      good += Buffer.byteLength(line) + 1;
    }
    // A line cut by a kill must not run into the next one.
    await truncate(join(this.#folder, PROGRESS), good);
    for (const name of await readdir(this.#folder)) {
      const isUnknown = name.endsWith(SUFFIX) && !this.#sizes.has(name.slice(0, -SUFFIX.length));
      if (isUnknown) await rm(join(this.#folder, name));
    }
    for (const [family, size] of this.#sizes) {
      const found = await lstat(this.#path(family)).catch(unlessMissing);
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

/** Throws a ConfigError if the folder or a file in it is a link, or not this user's, or writable by others. */
async function expectOwn(folder: string, name?: string): Promise<void> {
  const stats = await lstat(join(folder, name ?? ''));
  const isLink = name === undefined ? !stats.isDirectory() : !stats.isFile() || stats.nlink > 1;
  const isForeign = stats.uid !== (process.getuid?.() ?? stats.uid);
  if (!isLink && !isForeign && (stats.mode & 0o022) === 0) return;
  const flaw = isLink ? 'is a link' : isForeign ? 'belongs to another user' : 'can be written by other users';
  throw inUse(folder, name === undefined ? flaw : `has a file that ${flaw}: ${name}`);
}

/** Throws a ConfigError where another process of this machine works in the folder. */
async function claim(folder: string): Promise<void> {
  const path = join(folder, OWNER);
  const owner = Number(await readFile(path, 'utf8').catch(unlessMissing));
  if (owner > 0 && owner !== process.pid && isRunning(owner)) throw inUse(folder, `is used by process ${owner}`);
  await writeFile(path, String(process.pid), { mode: 0o600 });
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // A process of another user.
    return codeOf(error) === 'EPERM';
  }
}

function inUse(folder: string, reason: string): ConfigError {
  return new ConfigError([
    `${folder}: the work folder ${reason}; repeat the options of the first run, or choose another folder with --work`,
  ]);
}

function parsed<Value>(line: string): Value | undefined {
  try {
    return JSON.parse(line) as Value;
  } catch {
    return undefined;
  }
}
