import { createReadStream, createWriteStream } from 'node:fs';
import { appendFile, mkdir, readdir, readFile, rm, rmdir, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { ConfigError } from '../runtime/errors.ts';

/*
 * The work folder of a backfill. OpenMetrics wants the lines of a family together, while answers come by appliance; so
 * each family has a file of its own, to which every task that is done appends, and they are joined at the end. The file
 * `progress` has one line for each task that is done, with the sizes that the files had then: what a kill leaves behind
 * them is cut off at the next start. Each append is one gzip member, since the lines are long and alike.
 */

/** What the folder is about: a run with another question must not go on with it. */
export interface SpoolQuestion {
  /** What was asked for, as a text that is equal for the same question. */
  readonly asked: string;
  /** The period, in milliseconds since the Unix epoch: it stays the one of the first run. */
  readonly from: number;
  readonly to: number;
}

/** What came of one task. */
export interface Spooled {
  readonly task: string;
  /** What the service does not have is not asked for again. */
  readonly outcome: 'read' | 'none';
  readonly points: number;
  readonly bins: number;
}

/** A line of `progress`, with the sizes of the files that it changed. */
interface Progress extends Spooled {
  readonly sizes: Readonly<Record<string, number>>;
}

const PROGRESS = 'progress';
const SUFFIX = '.om.gz';

export class Spool {
  readonly question: SpoolQuestion;
  readonly #folder: string;
  readonly #done = new Map<string, Spooled>();
  readonly #sizes = new Map<string, number>();
  /** Appends go one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(folder: string, question: SpoolQuestion) {
    this.#folder = folder;
    this.question = question;
  }

  /**
   * Goes on with what the folder holds, or begins. Throws a ConfigError where it holds something else, or what another
   * question brought.
   */
  static async open(folder: string, question: SpoolQuestion): Promise<Spool> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, PROGRESS);
    const kept = (await readFile(path, 'utf8').catch(unlessMissing)) ?? '';
    if (!kept.includes('\n')) {
      if ((await readdir(folder)).some((name) => name !== PROGRESS)) throw inUse(folder, 'holds other files');
      await writeFile(path, `${JSON.stringify(question)}\n`, { mode: 0o600 });
      return new Spool(folder, question);
    }
    const [first = '', ...lines] = kept.slice(0, kept.lastIndexOf('\n') + 1).split('\n');
    const begun = parsed<SpoolQuestion>(first);
    if (begun?.asked === undefined) throw inUse(folder, 'holds something else');
    if (begun.asked !== question.asked) throw inUse(folder, 'holds what other options have begun');
    const spool = new Spool(folder, begun);
    await spool.#resume(first, lines);
    return spool;
  }

  /** What came of the tasks that are done. */
  get done(): ReadonlyMap<string, Spooled> {
    return this.#done;
  }

  /** The families that have lines. */
  get families(): readonly string[] {
    return [...this.#sizes.keys()];
  }

  /** Appends what a task brought, by family, and notes that it is done. */
  add(spooled: Spooled, linesByFamily: ReadonlyMap<string, Iterable<string>>): Promise<void> {
    // After one that failed, as on a full disk, every further one fails: it would be written behind a torn piece.
    const added = this.#last.then(() => this.#append(spooled, linesByFamily));
    this.#last = added;
    return added;
  }

  /** The lines of a family. */
  read(family: string): AsyncIterable<Buffer> {
    const file = createReadStream(this.#path(family));
    const lines = createGunzip();
    file.on('error', (error) => lines.destroy(error));
    return file.pipe(lines);
  }

  /** Removes the folder and everything that was spooled. */
  async remove(): Promise<void> {
    for (const family of this.families) await rm(this.#path(family), { force: true });
    await rm(join(this.#folder, PROGRESS), { force: true });
    // It stays where there are other files in it.
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
    this.#done.set(spooled.task, spooled);
    for (const [family, size] of Object.entries(sizes)) this.#sizes.set(family, size);
  }

  async #resume(first: string, lines: readonly string[]): Promise<void> {
    let good = Buffer.byteLength(first) + 1;
    for (const line of lines) {
      const progress = line === '' ? undefined : parsed<Progress>(line);
      if (progress === undefined) break;
      this.#note(progress);
      good += Buffer.byteLength(line) + 1;
    }
    // A line that a kill has cut must not run into the next one.
    await truncate(join(this.#folder, PROGRESS), good);
    for (const name of await readdir(this.#folder)) {
      const isUnknown = name.endsWith(SUFFIX) && !this.#sizes.has(name.slice(0, -SUFFIX.length));
      if (isUnknown) await rm(join(this.#folder, name));
    }
    for (const [family, size] of this.#sizes) {
      const found = await stat(this.#path(family)).catch(unlessMissing);
      if (found === undefined || found.size < size) {
        throw inUse(this.#folder, `is damaged: ${family}${SUFFIX} is shorter than it was`);
      }
      await truncate(this.#path(family), size);
    }
  }

  #path(family: string): string {
    return join(this.#folder, `${family}${SUFFIX}`);
  }
}

function inUse(folder: string, reason: string): ConfigError {
  return new ConfigError([
    `${folder}: the work folder ${reason}; repeat the first options, or name another with --work`,
  ]);
}

function parsed<Value>(line: string): Value | undefined {
  try {
    return JSON.parse(line) as Value;
  } catch {
    return undefined;
  }
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
