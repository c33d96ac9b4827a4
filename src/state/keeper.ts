import type { Kept } from '../contract/kept.ts';
import { type Clock, withTimeout } from '../runtime/clock.ts';
import { asError } from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';
import { runInSlices } from '../runtime/slices.ts';
import { StateFileError, type StateStore } from './file-store.ts';
import { type Heading, Journal, type JournalContent, type JournalGroup, readJournal, readLines } from './journal.ts';

/** The time limit for an operation on the file, in milliseconds, because a disk may never respond. */
const DISK_WAIT_MS = 10_000;

/** The file is rewritten when it is longer than twice the present state and these bytes. */
const SLACK_BYTES = 4 * 1_048_576;

const PROGRAM = 'filer-exporter state';
const VERSION = 3;

/** The disk has not responded in time; the operation may still complete. */
class LateError extends Error {
  override readonly name = 'LateError';
}

/** By API, a value that distinguishes the state of this instance from the state of others. APIs that are not polled are missing. */
type Owners = Readonly<Record<string, string>>;

/** When a group was written: `at` by the wall clock in epoch milliseconds, `up` by the monotonic clock of its process. */
interface Moment {
  readonly at: number;
  readonly up: number;
}

/**
 * The condition of the existing file. `unread`: it could not be read and may be usable, so it stays until it can be read.
 * `damaged`: it is damaged or belongs to another instance, and is moved aside before anything is written. `ours`: it may be
 * overwritten.
 */
type FileCondition = 'unread' | 'damaged' | 'ours';

/** Saves the state and restores it after a restart. A failure is logged, and never stops or delays the process. */
export class StateKeeper {
  readonly #store: StateStore;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #owners: Owners;
  readonly #journal: Journal;
  /** Undefined until `load` is called: `--plan` creates the program without reading the state, so it must not write it. */
  #parts: readonly Kept[] | undefined;
  #condition: FileCondition = 'unread';
  /** Names the operation that is late and still in progress. */
  #late: string | undefined;
  #isFailing = false;
  #errors = 0;
  #isReleased = false;
  #queue: Promise<void> = Promise.resolve();

  constructor(store: StateStore, clock: Clock, log: Log, owners: Owners = {}, slackBytes = SLACK_BYTES) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.#owners = owners;
    this.#journal = new Journal(store, clock, slackBytes);
  }

  get errors(): number {
    return this.#errors;
  }

  /**
   * Restores the state if the file is whole and belongs to this instance, in all parts or in none; otherwise moves the file
   * aside. From then on `save` saves `parts`. Never rejects.
   */
  async load(parts: readonly Kept[]): Promise<void> {
    try {
      const content = await this.#read();
      this.#condition = 'ours';
      if (content !== undefined) await this.#restore(content, parts);
    } catch (error) {
      this.#errors += 1;
      if (this.#condition === 'ours' || error instanceof StateFileError) await this.#preserve(asError(error).message);
      else {
        this.#isFailing = true;
        this.#log.warn(
          { err: asError(error) },
          'The state file cannot be read: counting starts without it, and the file is kept until it can be read.',
        );
      }
    }
    this.#parts = parts;
    // After the first save, changes can be appended. A file that could not be read has time until the first poll.
    if (this.#condition === 'ours') await this.save();
  }

  /** Moves the file aside, because it belongs to another instance; counting starts again. Never rejects. */
  async discard(reason: string): Promise<void> {
    if (this.#condition === 'ours') await this.#preserve(reason);
  }

  /**
   * Resolves when all changes are on the disk or could not be written. Never rejects: a warning reports the first failure,
   * and a message that saving works again.
   */
  save(): Promise<void> {
    this.#queue = this.#queue.then(() => this.#save());
    return this.#queue;
  }

  /** Writes the changes of one part without syncing them to the disk: only a power failure can lose them. */
  async saveUnsynced(part: Kept): Promise<void> {
    // Changes that are not written now are part of the next rewritten file.
    if (!this.#journal.isOpen || this.#late !== undefined) return;
    try {
      const group = this.#group([part], () => part.changes());
      await this.#withTimeLimit('writing the state file', () => this.#journal.append(group, false));
    } catch (error) {
      this.#recordFailure(error);
    }
  }

  /** Releases the file. Nothing is written afterwards. */
  release(): void {
    this.#isReleased = true;
    this.#journal.release();
    this.#store.release();
  }

  /** Saves every `intervalMs` until `signal` aborts: for an instance whose polls do not save. */
  async run(intervalMs: number, signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#clock.sleep(intervalMs, signal);
      if (signal.aborted) return;
      await this.save();
    }
  }

  async #save(): Promise<void> {
    const parts = this.#parts;
    if (parts === undefined || this.#isReleased) return;
    try {
      if (this.#journal.isOpen) {
        const group = this.#group(parts, (part) => part.changes());
        await this.#withTimeLimit('writing the state file', () => this.#journal.append(group));
      } else await this.#withTimeLimit('writing the state file', (signal) => this.#rewrite(parts, signal));
      if (this.#isFailing) this.#log.info('The state file is written again.');
      this.#isFailing = false;
    } catch (error) {
      this.#recordFailure(error);
    }
    if (!this.#journal.isLong) return;
    await this.#withTimeLimit('rewriting the state file', (signal) => this.#rewrite(parts, signal)).catch(
      (error: unknown) => {
        this.#errors += 1;
        if (error instanceof LateError) this.#journal.close();
        this.#log.warn({ err: asError(error) }, 'The state file cannot be rewritten: it grows until it can be.');
      },
    );
  }

  #recordFailure(error: unknown): void {
    if (this.#isReleased) return;
    this.#errors += 1;
    // It is unknown what has reached the disk, so a new file is written next.
    this.#journal.close();
    if (!this.#isFailing) {
      this.#log.warn({ err: asError(error) }, 'The state file cannot be written: counting continues without it.');
    }
    this.#isFailing = true;
  }

  async #rewrite(parts: readonly Kept[], signal: AbortSignal): Promise<void> {
    await this.#preserveFile();
    const heading = { program: PROGRAM, version: VERSION, owners: this.#owners };
    // The pending changes are dropped, because they are part of the whole state.
    for (const part of parts) for (const _ of part.changes());
    await this.#journal.rewrite(
      heading,
      this.#group(parts, (part) => part.all()),
      signal,
    );
  }

  #group(parts: readonly Kept[], piecesOf: (part: Kept) => Iterable<unknown>): JournalGroup {
    const lines = function* () {
      for (const part of parts) for (const piece of piecesOf(part)) yield { [part.part]: piece };
    };
    return { lines: lines(), last: this.#moment() };
  }

  #moment(): Moment {
    return { at: this.#clock.now(), up: this.#clock.monotonic() };
  }

  async #restore(content: Buffer, parts: readonly Kept[]): Promise<void> {
    const journal = await runInSlices(
      readJournal(content, (heading) => expectOurs(heading, this.#owners)),
      this.#clock,
    );
    const { at, up } = momentOf(journal);
    // The wall clock may have been set back: the age is never negative.
    const elapsedMs = Math.max(0, this.#clock.now() - at);
    const shiftMs = this.#clock.monotonic() - elapsedMs - up;
    const restorations = new Map(parts.map((part) => [part.part, part.restore(shiftMs, elapsedMs)]));
    const put = (line: unknown) => {
      for (const [part, piece] of Object.entries(line as object)) restorations.get(part)?.put(piece);
    };
    await runInSlices(readLines(journal, this.#store.maxBytes, put), this.#clock);
    for (const restoration of restorations.values()) restoration.commit();
    this.#log.info({ secondsAgo: Math.round(elapsedMs / 1000) }, 'The state file was read.');
  }

  async #preserve(reason: string): Promise<void> {
    this.#condition = 'damaged';
    this.#journal.close();
    try {
      const name = await this.#withTimeLimit('moving the state file aside', () => this.#setAside('damaged'));
      this.#log.warn({ reason, name }, 'The state file cannot be used: it was moved aside, and counting starts again.');
    } catch (error) {
      this.#log.warn({ reason, err: asError(error) }, 'The state file can neither be used nor be moved aside.');
    }
  }

  /** Moves the existing file aside if it could not be read or belongs to another instance, so that it is not overwritten. */
  async #preserveFile(): Promise<void> {
    const condition = this.#condition;
    if (condition === 'ours') return;
    // This rejects as long as the file cannot be read.
    if (condition === 'unread') await this.#store.read();
    const name = await this.#setAside(condition);
    // If the state were restored now, every counter would jump, and Prometheus would count that as events.
    if (condition === 'unread' && name !== undefined) {
      this.#log.warn({ name }, 'The state file was read too late to continue from it: it was moved aside.');
    }
  }

  async #setAside(word: FileCondition): Promise<string | undefined> {
    const name = await this.#store.setAside(word, new Date(this.#clock.now()));
    this.#condition = 'ours';
    return name;
  }

  #read(): Promise<Buffer | undefined> {
    return this.#withTimeLimit('reading the state file', () => this.#store.read());
  }

  /**
   * Runs an operation with a time limit, because a disk that hangs, such as a network disk, never responds. While a late
   * operation is in progress no other one starts: it occupies one of Node's few threads, and the older of two writes could
   * end last. The signal stops a late operation before its next step.
   */
  #withTimeLimit<Result>(what: string, call: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    if (this.#late !== undefined)
      return Promise.reject(new LateError(`${this.#late} is still in progress: the disk hangs`));
    const late = new AbortController();
    const done = call(late.signal).finally(() => {
      this.#late = undefined;
    });
    return withTimeout(done, this.#clock, DISK_WAIT_MS, () => {
      this.#late = what;
      late.abort();
      return new LateError(`${what} took longer than ${DISK_WAIT_MS} ms: the disk hangs`);
    });
  }
}

function expectOurs({ program, version, owners }: Heading, own: Owners): void {
  if (program !== PROGRAM || typeof version !== 'number') throw new StateFileError('not a state file, or corrupted');
  if (version > VERSION) throw new StateFileError(`its version ${version} is newer than this program`);
  if (version < VERSION) throw new StateFileError(`its version ${version} is older than this program can read`);
  const theirs = new Map(Object.entries(owners ?? {}));
  if (Object.entries(own).some(([api, owner]) => (theirs.get(api) ?? owner) !== owner)) {
    throw new StateFileError('it belongs to another client key or another service');
  }
}

/** Returns the time at which the last group was written. */
function momentOf({ last }: JournalContent): Moment {
  const { at, up } = (last ?? {}) as Partial<Moment>;
  if (!Number.isFinite(at) || !Number.isFinite(up)) throw new StateFileError('corrupted: it has no whole state');
  return { at: Number(at), up: Number(up) };
}
