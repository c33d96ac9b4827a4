import { type Clock, withTimeout } from '../runtime/clock.ts';
import { asError } from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';
import type { Persisted } from '../runtime/persisted.ts';
import { runInSlices } from '../runtime/slices.ts';
import type { StateStore } from './file-store.ts';
import { decode, encode, StateFault } from './format.ts';

const DISK_WAIT_MS = 10_000;

/** The disk has not answered in time; the operation may still complete. */
class LateError extends Error {
  override readonly name = 'LateError';
}

/** The first line: the time of saving, by the wall clock, and the owners. */
interface Preface {
  readonly savedAt: number;
  readonly owners: Owners;
}

/** By API, what distinguishes this instance's state from another's. APIs that are not polled are missing. */
type Owners = Readonly<Record<string, string>>;

/**
 * What lies in the place of the file. `unread`: it could not be read, may be whole and ours, and stays until it can be.
 * `damaged`: that, or not ours; it is moved aside before anything is written. `ours`: it may be overwritten.
 */
type Place = 'unread' | 'damaged' | 'ours';

/** Saves and restores the state over restarts. A fault costs a warning, and neither the process nor its time. */
export class StateKeeper {
  readonly #store: StateStore;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #owners: Owners;
  /** Undefined before something is loaded: `--plan` builds the program and reads no state, so it writes none. */
  #persisted: Persisted | undefined;
  #place: Place = 'unread';
  /** The late operation in progress, in words. */
  #late: string | undefined;
  #isFailing = false;
  #errors = 0;

  constructor(store: StateStore, clock: Clock, log: Log, owners: Owners = {}) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.#owners = owners;
  }

  get errors(): number {
    return this.#errors;
  }

  /** Restores what is whole and ours, and moves anything else aside; from then on `save` saves `persisted`. Never rejects. */
  async load(persisted: Persisted): Promise<void> {
    try {
      const content = await this.#read();
      this.#place = 'ours';
      if (content !== undefined) await this.#takeBack(content, persisted);
    } catch (error) {
      this.#errors += 1;
      if (this.#place === 'ours' || error instanceof StateFault) await this.#refuse(asError(error).message);
      else {
        this.#isFailing = true;
        this.#log.warn(
          { err: asError(error) },
          'state file not read; counting starts without it, and the file is kept until it can be read',
        );
      }
    }
    this.#persisted = persisted;
  }

  /** Moves the saved state aside, because it is not ours; counting starts again. Never rejects. */
  async disown(reason: string): Promise<void> {
    if (this.#place === 'ours') await this.#refuse(reason);
  }

  /** Never rejects; one warning when saving starts to fail or to be late, one line when it works again. */
  async save(): Promise<void> {
    const persisted = this.#persisted;
    if (persisted === undefined) return;
    try {
      await this.#makeRoom();
      const preface: Preface = { savedAt: this.#clock.now(), owners: this.#owners };
      const content = await runInSlices(encode(withPreface(preface, persisted.state())), this.#clock);
      await this.#inTime('writing the state file', () => this.#store.write(content));
      if (this.#isFailing) this.#log.info('state file written again');
      this.#isFailing = false;
    } catch (error) {
      this.#errors += 1;
      if (!this.#isFailing) this.#log.warn({ err: asError(error) }, 'state file not written; continuing without it');
      this.#isFailing = true;
    }
  }

  release(): void {
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

  async #takeBack(content: Buffer, persisted: Persisted): Promise<void> {
    const [preface, ...values] = await runInSlices(decode(content), this.#clock);
    const { savedAt, owners } = prefaceOf(preface);
    const isForeign = Object.entries(this.#owners).some(([api, own]) => (owners[api] ?? own) !== own);
    if (isForeign) throw new StateFault('it belongs to another client key or another service');
    // The wall clock may have been set back: the age is never negative.
    const elapsedMs = Math.max(0, this.#clock.now() - savedAt);
    await runInSlices(persisted.restore(values, elapsedMs), this.#clock);
    this.#log.info({ secondsAgo: Math.round(elapsedMs / 1000) }, 'state file read');
  }

  async #refuse(reason: string): Promise<void> {
    this.#place = 'damaged';
    try {
      const name = await this.#setAside('damaged');
      this.#log.warn({ reason, name }, 'state file not usable; moved aside; counting starts again');
    } catch (error) {
      this.#log.warn({ reason, err: asError(error) }, 'state file not usable, and not moved aside');
    }
  }

  /** Makes sure that no file is overwritten that is not ours or was not read. */
  async #makeRoom(): Promise<void> {
    const place = this.#place;
    if (place === 'ours') return;
    // Rejects as long as it cannot be read.
    if (place === 'unread') await this.#read();
    const name = await this.#setAside(place);
    // Restoring it now would make every counter jump, which Prometheus would take for events.
    if (place === 'unread' && name !== undefined) {
      this.#log.warn({ name }, 'state file read too late to continue from it; moved aside');
    }
  }

  async #setAside(word: Place): Promise<string | undefined> {
    const moment = new Date(this.#clock.now());
    const name = await this.#inTime('moving the state file aside', () => this.#store.setAside(word, moment));
    this.#place = 'ours';
    return name;
  }

  #read(): Promise<Buffer | undefined> {
    return this.#inTime('reading the state file', () => this.#store.read());
  }

  /**
   * A disk that hangs, such as one over the network, never answers. While a late operation is in progress no other starts:
   * it holds one of Node's few threads, and of two writes the older could end last.
   */
  #inTime<Result>(what: string, call: () => Promise<Result>): Promise<Result> {
    if (this.#late !== undefined)
      return Promise.reject(new LateError(`${this.#late} is still in progress: the disk hangs`));
    const answer = call().finally(() => {
      this.#late = undefined;
    });
    return withTimeout(answer, this.#clock, DISK_WAIT_MS, () => {
      this.#late = what;
      return new LateError(`${what} took longer than ${DISK_WAIT_MS} ms: the disk hangs`);
    });
  }
}

function* withPreface(preface: Preface, values: Iterable<unknown>): Generator<unknown> {
  yield preface;
  yield* values;
}

function prefaceOf(value: unknown): Preface {
  const { savedAt, owners } = (value ?? {}) as Partial<Preface>;
  if (Number.isFinite(savedAt) && typeof savedAt === 'number' && typeof owners === 'object' && owners !== null)
    return { savedAt, owners };
  throw new StateFault('corrupted: the time of saving is missing');
}
